#!/usr/bin/env python3
"""Measures ours and every peer on a CPU in one run, and prints the tables of docs/results: sparse
times dense (PyTorch's MKL in turn, the gather marks, the naive serial reference) and sparse times sparse
(memory too), on all cores, on one, and on numbers of cores in between.

Usage: cpu_peers.py [--bin build/tools] [--out DIR] [--spgemm] [--threads 16[,8,...]] MATRIX.csr ...

Ours and the peers that csr-bench was built with share a process and operands per matrix, and every
result is checked before it is timed. PyTorch, where Python has it, runs in a process of its own with the
same A, threads and affinity, and memory for its product. All samples go to DIR/records*.jsonl, a line per
case as it is finished; what is there is not measured again. After --seconds nothing new is begun.
--table DIR alone prints the tables of records that exist.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import time

import tables

TORCH = "pytorch_mkl"
OURS = {"spmm": "cpu.spmm.auto", "spgemm": "cpu.spgemm.auto"}
MARKS = {"cpu.spmm.gather_mark": "the mark", "cpu.spmm.random_gather_mark": "random rows"}
NAIVE, HASH, MKL = "cpu.spmm.naive", "cpu.spgemm.hash_rows", "cpu.spgemm.vendor_mkl"


def torch_worker(threads, repeat):
    """Measures one case per line of stdin (the file of A, the width); prints a record per line."""
    import warnings

    try:
        import numpy
        import torch
    except ImportError as error:
        print(f"cpu_peers.py: without PyTorch, which needs what {sys.executable} has not: {error}", file=sys.stderr)
        return 77
    warnings.filterwarnings("ignore")  # "CSR support is in beta state"
    torch.set_num_threads(threads)
    mkl = [line.strip() for line in torch.__config__.show().splitlines() if "Math Kernel" in line]
    print("ready", flush=True)  # importing takes seconds, and would disturb what is measured meanwhile
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
        print(json.dumps({"status": "done", "dense_cols": width, "nnz": sparse.values().numel(),
                          "samples_seconds": seconds, "median_seconds": statistics.median(seconds),
                          "choice": f"PyTorch {torch.__version__}; {mkl[0] if mkl else 'no MKL'}"}), flush=True)


def environment_of(threads):
    return dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PLACES="cores", OMP_PROC_BIND="close")


class Driver:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.records = options.out / "records.jsonl"
        self.operation = "spgemm" if options.spgemm else "spmm"
        options.out.mkdir(parents=True, exist_ok=True)
        lscpu = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
        (options.out / "lscpu.txt").write_text(lscpu)
        rows = json.loads(subprocess.run([options.bin / "csr-bench", "--list", "--json"], capture_output=True, text=True,
                                         check=True).stdout)
        names = [row["kernel"] for row in rows["rows"] if row["kernel"].startswith(f"cpu.{self.operation}.vendor")]
        self.peers = [name for name in names if not any(part in name for part in options.without.split(",") if part)]

    def bench(self, matrix, kernels, threads, widths, repeat, warmup, core=None):
        """False if the time is up."""
        left = self.end - time.monotonic()
        if left < 1:
            return False
        # One process at a time writes to a file.
        records = self.records if core is None else self.options.out / f"records_{matrix.stem}_{widths[0]}_{len(widths)}.jsonl"
        command = [self.options.bin / "csr-bench", matrix, "--kernels", ",".join(kernels), "--threads", threads,
                   "--repeat", repeat, "--warmup", warmup, "--records", records, "--resume", "--quiet",
                   "--check=" + self.options.check, "--value-kind", "f64" if self.options.spgemm else "f32"]
        if not self.options.spgemm:
            command += ["-k", ",".join(map(str, widths))]
        if core is not None:
            command = ["taskset", "-c", core] + command
        try:
            done = subprocess.run([str(part) for part in command], env=environment_of(threads), capture_output=True,
                                  text=True, timeout=left)
            if done.returncode != 0:
                print(f"{matrix}: exit code {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        except subprocess.TimeoutExpired:
            print(f"{matrix}: the time is up", file=sys.stderr)
        return True

    def all_kernels(self, matrix, threads, core=None):
        extra = [HASH] if self.options.spgemm else list(MARKS)
        options = self.options
        return self.bench(matrix, [OURS[self.operation]] + extra, threads, options.dense_cols, options.repeat, 2, core) and (
            not self.peers or
            self.bench(matrix, self.peers, threads, options.dense_cols, max(2, options.repeat // 2), 1, core))

    def run(self):
        options = self.options
        torch = None
        if not options.spgemm and not options.side_by_side and importlib.util.find_spec("torch") and not options.no_torch:
            torch = subprocess.Popen([sys.executable, __file__, "--torch-worker", str(options.threads[0]), str(options.repeat)],
                                     env=environment_of(options.threads[0]), stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
            if not torch.stdout.readline():  # it said why
                torch.wait()
                torch = None
        if options.side_by_side:
            self.on_single_cores([(matrix, None) for matrix in options.matrices], options.side_by_side,
                                 lambda case, core: self.all_kernels(case[0], 1, core))
        elif len(options.threads) > 1:  # scaling: ours alone
            for matrix in options.matrices:
                for threads in options.threads:
                    self.bench(matrix, [OURS[self.operation]], threads, options.dense_cols, options.repeat, 2)
        else:
            with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
                for matrix in options.matrices:
                    if not self.all_kernels(matrix, options.threads[0]):
                        break
                    if torch:
                        self.torch_case(torch, matrix, pathlib.Path(scratch) / "a.npz")
        if torch:
            torch.communicate()
        if options.naive:
            # The serial reference takes seconds per product: one case per core, all at once.
            cases = [(matrix, width) for width in options.dense_cols for matrix in options.matrices]
            self.on_single_cores(cases, len(os.sched_getaffinity(0)),
                                 lambda case, core: self.bench(case[0], [NAIVE], 1, [case[1]], 1, 0, core))

    def torch_case(self, torch, matrix, npz):
        subprocess.run([self.options.bin / "csr-export", matrix, npz, "--force", "--quiet"], check=True)
        for width in self.options.dense_cols:
            torch.stdin.write(json.dumps([str(npz), width]) + "\n")
            torch.stdin.flush()
            record = json.loads(torch.stdout.readline())
            record.update(matrix=str(matrix), case={"operation": "spmm", "kernel": TORCH, "dense_cols": width,
                                                    "threads": self.options.threads[0]})
            with open(self.records, "a") as records:
                records.write(json.dumps(record) + "\n")

    @staticmethod
    def on_single_cores(cases, lanes, work):
        free = queue.SimpleQueue()
        for core in sorted(os.sched_getaffinity(0))[:lanes]:
            free.put(core)

        def one(case):
            core = free.get()
            work(case, core)
            free.put(core)

        with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
            list(pool.map(one, cases))


def say_mean(what, numbers):
    if numbers:
        print(f"\n{what}: geometric mean {tables.geometric_mean(numbers):.2f}, lowest "
              f"{min(numbers):.2f}, highest {max(numbers):.2f}, {len(numbers)} cases.")


def shares_of_mark(fact, ours, mark):
    """Ours as a share of a mark: by time, and by bytes. Both read the rows of B and A's columns; ours reads
    A's values and offsets, too, and writes C."""
    width = 4 * fact["dense_cols"]
    gathered = fact["nnz"] * (width + 4)
    moved = gathered + 4 * fact["nnz"] + fact["rows"] * (8 + width)
    return mark / ours, mark / ours * moved / gathered


def two_digits(number):
    return "" if number is None else f"{number:.2f}"


def short(kernel):
    return kernel.split(".")[-1].replace("vendor_", "").replace("pytorch_mkl", "PyTorch")


class Tables:
    def __init__(self, path):
        self.seconds, self.facts, self.sorting = {}, {}, {}
        for record in (record for file in sorted(path.glob("records*.jsonl")) for record in tables.read_records(file)):
            case = record["case"]
            if record["status"] != "done":
                print(f"{record['matrix']} K={case['dense_cols']} {case['kernel']}: {record.get('reason')}", file=sys.stderr)
                continue
            key = case["operation"], pathlib.Path(record["matrix"]).stem, case["dense_cols"], case["threads"]
            self.seconds.setdefault(key, {})[case["kernel"]] = record["median_seconds"]
            if case["operation"] == "spgemm" and record["phases"]["sort_seconds"] > 0:
                self.sorting.setdefault(key, {})[case["kernel"]] = record["phases"]["sort_seconds"]
            if case["kernel"] == OURS[case["operation"]]:
                self.facts[key] = record

    def cases(self, operation):
        return [(key, by) for key, by in self.seconds.items() if key[0] == operation and OURS[operation] in by]

    def peers_of(self, cases):
        return sorted({kernel for _, by in cases for kernel in by if ".vendor_" in kernel or kernel in (TORCH, HASH)})

    def cells_of(self, key, by, peers):
        """Milliseconds of each peer, and in brackets what of it is sorting; how many times faster ours is than the best."""
        sorting = self.sorting.get(key, {})
        cells = [f"{by[peer] * 1e3:.3g}" + (f" ({sorting[peer] * 1e3:.3g})" if peer in sorting else "")
                 if peer in by else "" for peer in peers]
        rivals = [by[peer] for peer in peers if peer in by]
        return cells, min(rivals) / by[OURS[key[0]]] if rivals else None

    def spmm_table(self, cases, peers):
        headings = ["matrix", "nnz", "K", "ours", "GFLOP/s", *map(short, peers), "over the best",
                    *(text for name in MARKS.values() for text in (f"of {name}", "by bytes"))]
        rows, best, shares = [], [], {mark: ([], []) for mark in MARKS}
        for key, by in cases:
            ours, fact = by[OURS["spmm"]], self.facts[key]
            cells, over = self.cells_of(key, by, peers)
            best += [over] if over else []
            of_marks = []
            for mark in MARKS:
                both = shares_of_mark(fact, ours, by[mark]) if mark in by else ()
                for numbers, share in zip(shares[mark], both):
                    numbers.append(share)
                of_marks += [f"{share:.2f}" for share in both] or ["", ""]
            rows.append([key[1], f"{fact['nnz']:,}", str(key[2]), f"{ours * 1e3:.3g}",
                         f"{2e-9 * fact['nnz'] * key[2] / ours:.0f}", *cells, two_digits(over), *of_marks])
        print(tables.markdown(headings, rows), end="")
        say_mean("Over the best peer of each case", best)
        for mark, name in MARKS.items():
            for how, numbers in zip(("time", "bytes"), shares[mark]):
                say_mean(f"Share of {name}, by {how}", numbers)
                if numbers:
                    print(f"{sum(number >= 0.85 for number in numbers)} of {len(numbers)} at 0.85 or more.")

    def spgemm_table(self, cases, peers):
        headings = ["matrix", "products, M", "products/nnz(C)", "ours", *map(short, peers), "over the best", "over MKL",
                    "numeric", "peak / (A + B + C)", "of what is allowed"]
        rows, best, mkl, others = [], [], [], []
        for key, by in cases:
            ours, fact = by[OURS["spgemm"]], self.facts[key]
            cells, over = self.cells_of(key, by, peers)
            best += [over] if over else []
            over_mkl = by[MKL] / ours if MKL in by else None
            mkl += [over_mkl] if over_mkl else []
            rest = [by[peer] for peer in peers if peer in by and not peer.endswith("mkl")]
            others += [min(rest) / ours] if rest else []
            operands = fact["peak_bytes"] / fact["peak_ratio"]
            allowed = fact["peak_bytes"] / max(1.5 * operands, operands + (64 << 20))
            rows.append([key[1], f"{fact['products'] / 1e6:.0f}", f"{fact['compression']:.1f}", f"{ours * 1e3:.3g}", *cells,
                         two_digits(over), two_digits(over_mkl), f"{fact['phases']['numeric_seconds'] * 1e3:.3g}",
                         f"{fact['peak_ratio']:.2f}", f"{allowed:.2f}"])
        print(tables.markdown(headings, rows), end="")
        say_mean("Over the best peer of each case", best)
        say_mean("Over MKL", mkl)
        say_mean("Over the best of the others", others)

    def peers_table(self, operation, threads):
        cases = [(key, by) for key, by in self.cases(operation) if key[3] == threads]
        peers = self.peers_of(cases)
        if not peers:
            return
        is_spmm = operation == "spmm"
        print(f"\n{operation}, threads: {threads}; milliseconds" + ("" if is_spmm else ", in brackets what of it is sorting") + "\n")
        (self.spmm_table if is_spmm else self.spgemm_table)(cases, peers)

    def reference_table(self, threads):
        """The serial reference ran on one core."""
        naive = {key[1:3]: by[NAIVE] for key, by in self.seconds.items() if NAIVE in by}
        cases = [(key, by) for key, by in self.cases("spmm") if key[3] == threads and key[1:3] in naive]
        if not cases:
            return
        rows = []
        for key, by in cases:
            ours, serial = by[OURS["spmm"]], naive[key[1:3]]
            rows.append([key[1], str(key[2]), f"{ours:.6f}", f"{serial:.4f}", f"{serial / ours:.0f}"])
        print("\n" + tables.markdown(["dataset", "K", f"ours, {threads} threads, s", "serial reference, s", "speed-up"],
                                     rows), end="")

    def scaling_table(self):
        counts = sorted({key[3] for key in self.facts})
        series = {}
        for operation in OURS:
            for key, by in self.cases(operation):
                series.setdefault(key[:3], {})[key[3]] = by[OURS[operation]]
        series = {key: times for key, times in series.items() if len(times) > 2}
        if not series:
            return
        rows = [[f"{operation} {matrix}", str(width or ""), *(f"{times[n] * 1e3:.3g}" if n in times else "" for n in counts),
                 f"{times[min(times)] / times[max(times)]:.1f} of {max(times)}"]
                for (operation, matrix, width), times in series.items()]
        print("\n" + tables.markdown(["product", "K", *(f"{n} threads" for n in counts), "speed-up"], rows), end="")

    def show(self):
        for operation in OURS:
            for threads in sorted({key[3] for key, _ in self.cases(operation)}, reverse=True):
                self.peers_table(operation, threads)
        for threads in sorted({key[3] for key, _ in self.cases("spmm")}, reverse=True):
            self.reference_table(threads)
        self.scaling_table()


def main():
    if sys.argv[1:2] == ["--torch-worker"]:
        return torch_worker(int(sys.argv[2]), int(sys.argv[3]))

    def numbers(text):
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"))
    parser.add_argument("--scratch", type=pathlib.Path, help="where PyTorch's copy of A goes")
    parser.add_argument("--spgemm", action="store_true", help="A A in f64 instead of A times a dense matrix in f32")
    parser.add_argument("--threads", type=numbers, default=[len(os.sched_getaffinity(0))],
                        help="several: ours alone, with each of them")
    parser.add_argument("--side-by-side", type=int, default=0, metavar="N", help="one thread, N matrices at a time")
    parser.add_argument("-k", "--dense-cols", type=numbers, default=[32, 256])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--check", default="sampled")
    parser.add_argument("--without", default="", help="peers left out, e.g. librsb,eigen")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--naive", action="store_true", help="also the serial reference, last")
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--table", type=pathlib.Path, metavar="DIR", help="print the tables of these, measure nothing")
    options = parser.parse_args()
    if options.table is None:
        driver = Driver(options)
        driver.run()
        options.table = options.out
    Tables(options.table).show()


if __name__ == "__main__":
    sys.exit(main())
