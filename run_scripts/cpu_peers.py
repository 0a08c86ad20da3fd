#!/usr/bin/env python3
"""Runs PyTorch's sparse times dense (MKL) and ours in turn, with the same threads and affinity, and
prints the table of docs/performance.md: dataset, ours, peers, speed-up, share of the gather bandwidth.

Usage: cpu_peers.py --bin build/tools --out DIR [--threads 16] [-k 32,256] [--kernels NAMES] MATRIX.csr ...

Ours and the peers csr-spmm-cpu was built with run in a process per case, PyTorch (left out where
Python has none) in one of its own, with the same A, a random B, and memory for the product (out=).
Ours is checked against float64 before it is timed.
All samples go to DIR/records.jsonl, one record per line. --table DIR/records.jsonl prints the table
of records that exist.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import math
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile

OURS, MARK, TORCH, NAIVE = "cpu.spmm.auto", "cpu.spmm.gather_mark", "pytorch_mkl", "cpu.spmm.naive"


def torch_worker(threads, repeat):
    """Measures one case per line of stdin (the file of A, the width); prints a record per line."""
    import time
    import warnings

    import numpy
    import torch
    warnings.filterwarnings("ignore")  # "CSR support is in beta state"
    torch.set_num_threads(threads)
    mkl = [line.strip() for line in torch.__config__.show().splitlines() if "Math Kernel" in line]
    for line in sys.stdin:
        npz, width = json.loads(line)
        with numpy.load(npz) as a:
            sparse = torch.sparse_csr_tensor(torch.from_numpy(a["indptr"].astype(numpy.int32)),
                                             torch.from_numpy(a["indices"].astype(numpy.int32)),
                                             torch.from_numpy(a["data"].astype(numpy.float32)),
                                             tuple(int(n) for n in a["shape"]))
        dense = torch.rand(sparse.shape[1], width) * 2 - 1
        product = torch.empty(sparse.shape[0], width)
        seconds = []
        for _ in range(repeat + 3):
            start = time.perf_counter()
            torch.mm(sparse, dense, out=product)
            seconds.append(time.perf_counter() - start)
        seconds = seconds[3:]
        print(json.dumps({"kernel": TORCH, "samples_seconds": seconds,
                          "median_seconds": statistics.median(seconds), "min_seconds": min(seconds),
                          "choice": f"PyTorch {torch.__version__}; {mkl[0] if mkl else 'no MKL'}"}), flush=True)


def environment_of(threads):
    return dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PLACES="cores", OMP_PROC_BIND="close")


def run(command, threads):
    done = subprocess.run([str(part) for part in command], env=environment_of(threads), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{command[0]}: exit code {done.returncode}: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(options, kernels):
    options.out.mkdir(parents=True, exist_ok=True)
    has_torch = importlib.util.find_spec("torch") is not None
    torch_process = subprocess.Popen([sys.executable, __file__, "--torch-worker", str(options.threads), str(options.repeat)],
                                     env=environment_of(options.threads), stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True) if has_torch else None
    lscpu = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
    (options.out / "lscpu.txt").write_text(lscpu)
    with open(options.out / "records.jsonl", "a") as records, tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        for matrix in options.matrices:
            npz = scratch / "a.npz"
            if has_torch:
                subprocess.run([options.bin / "csr-export", matrix, npz, "--quiet"], check=True)
            for width in options.dense_cols:
                spmm = [options.bin / "csr-spmm-cpu", matrix, "-k", width, "--threads", options.threads, "--json",
                        "--value-kind", "f32", "--repeat", options.repeat, "--warmup", 3]
                for turn in range(options.turns):
                    for kernel in kernels:
                        # Checked in the first turn; a mark has no result.
                        check = [] if turn or kernel == MARK else ["--check=sampled"]
                        record = run(spmm + check + ["--kernel", kernel], options.threads)
                        write(records, options, matrix, width, turn, record)
                    if has_torch:
                        torch_process.stdin.write(json.dumps([str(npz), width]) + "\n")
                        torch_process.stdin.flush()
                        write(records, options, matrix, width, turn, json.loads(torch_process.stdout.readline()))
        if options.naive:
            naive_side_by_side(options, records)
    if torch_process:
        torch_process.communicate()


def naive_side_by_side(options, records):
    """The serial reference takes seconds per product: one case per core, all at once."""
    cores = sorted(os.sched_getaffinity(0))
    cases = [(matrix, width) for matrix in options.matrices for width in options.dense_cols]
    free = queue.SimpleQueue()
    for core in cores:
        free.put(core)

    def one(case):
        core = free.get()
        command = ["taskset", "-c", core, options.bin / "csr-spmm-cpu", case[0], "-k", case[1], "--threads", 1, "--json",
                   "--value-kind", "f32", "--kernel", NAIVE, "--repeat", 1, "--warmup", 0]
        record = run(command, 1)
        free.put(core)
        return record

    with concurrent.futures.ThreadPoolExecutor(len(cores)) as pool:
        for (matrix, width), record in zip(cases, pool.map(one, cases)):
            write(records, options, matrix, width, 0, record)


def write(records, options, matrix, width, turn, record):
    if record is None:
        return
    record.update(matrix=pathlib.Path(matrix).stem, dense_cols=width, threads=options.threads, turn=turn)
    records.write(json.dumps(record) + "\n")
    records.flush()


def table(path):
    seconds, facts = {}, {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record.get("check") and not record["check"]["passed"]:
            print(f"WRONG: {record['matrix']} K={record['dense_cols']} {record['kernel']}", file=sys.stderr)
            continue
        key = record["matrix"], record["dense_cols"], record["threads"]
        seconds.setdefault(key, {}).setdefault(record["kernel"], []).append(record["median_seconds"])
        if record["kernel"] == OURS:
            facts[key] = record
    shares, speeds = [], []
    print("| dataset | nnz | K | threads | ours ms | GFLOP/s | best peer | its ms | speed-up | naive ms | "
          "against naive | ours / gather mark |")
    print("|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|")
    for key, by in seconds.items():
        if OURS not in by:
            continue
        best = {kernel: statistics.median(times) for kernel, times in by.items()}
        ours = best[OURS]
        peers = {kernel: t for kernel, t in best.items() if "vendor" in kernel or kernel == TORCH}
        peer = min(peers, key=peers.get) if peers else None
        if peer:
            speeds.append(peers[peer] / ours)
        if MARK in best:
            shares.append(best[MARK] / ours)
        nnz = facts[key]["nnz"]
        print(f"| {key[0]} | {nnz:,} | {key[1]} | {key[2]} | {ours * 1e3:.3f} | {2e-9 * nnz * key[1] / ours:.0f} | "
              + (f"{peer.replace('cpu.spmm.', '')} | {peers[peer] * 1e3:.3f} | {peers[peer] / ours:.2f} | " if peer else "| | | ")
              + (f"{best[NAIVE] * 1e3:.1f} | {best[NAIVE] / ours:.0f} | " if NAIVE in best else "| | ")
              + (f"{best[MARK] / ours:.2f} |" if MARK in best else "|"))
    for what, numbers in (("best peer", speeds), ("gather mark", shares)):
        if numbers:
            print(f"\nAgainst the {what}: geometric mean {math.exp(statistics.fmean(map(math.log, numbers))):.2f}, "
                  f"lowest {min(numbers):.2f}, highest {max(numbers):.2f}, {len(numbers)} cases.")


def main():
    if sys.argv[1:2] == ["--torch-worker"]:
        return torch_worker(int(sys.argv[2]), int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"))
    parser.add_argument("--scratch", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-k", "--dense-cols", default="32,256", type=lambda text: [int(k) for k in text.split(",")])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--kernels", default="")
    parser.add_argument("--naive", action="store_true", help="also the serial reference, last")
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    if options.table is None:
        kernels = options.kernels.split(",") if options.kernels else [OURS] + [
            row["kernel"] for row in json.loads(subprocess.run([options.bin / "csr-spmm-cpu", "--list", "--json"],
                                                              capture_output=True, text=True, check=True).stdout)
            if row["role"] in ("vendor", "mark")]
        measure(options, kernels)
        options.table = options.out / "records.jsonl"
    table(options.table)


if __name__ == "__main__":
    main()
