#!/usr/bin/env python3
"""What a profile says about the rungs of the SpGEMM ladder: time, bandwidth, share of write-back.

Usage: spgemm_profile.py MATRIX.csr ... --tools FOLDER --out FOLDER [--value-kind f64]

FOLDER of --tools holds a csr-spgemm-gpu that was compiled with -DCMAKE_CUDA_FLAGS=-lineinfo. Each rung
is run once under ncu (Nsight Compute), with the clocks left alone. Samples of the program counter are
given to the lines of the rung's own file; those between the comments "write-back" and "write-back ends"
are writing. An instruction out of an inlined header belongs to the line of the rung before it.
"""
import argparse
import bisect
import collections
import pathlib
import shutil
import subprocess
import sys

RUNGS = {"v0_thread_per_row": "thread_per_row", "v1_cached_members": "cached_members",
         "v2_block_per_row": "block_per_row", "v3_batched_writes": "batched_writes",
         "v4_thread_counts": "thread_counts", "v5_prefix_sum": "write_row"}
TIME, DRAM, L2 = "gpu__time_duration.sum", "dram__bytes.sum", "lts__t_bytes.sum"
SAMPLES = "smsp__pcsamp_warps_issue_stalled_"
LADDER = pathlib.Path(__file__).resolve().parents[2] / "gpu" / "spgemm" / "ladder"


def load_ncu_report():
    ncu = pathlib.Path(shutil.which("ncu") or sys.exit("spgemm_profile.py: ncu is not on the PATH")).resolve()
    for folder in (*ncu.parents, pathlib.Path("/opt/nvidia")):
        for found in (folder / "extras" / "python", *folder.glob("nsight-compute*/extras/python"),
                      *folder.glob("nsight-compute/*/extras/python")):
            if (found / "ncu_report.py").exists():
                sys.path.insert(0, str(found))
                import ncu_report
                return ncu_report
    sys.exit("spgemm_profile.py: Nsight Compute's ncu_report.py was not found beside ncu")


def source_of(rung):
    """The file of its kernel, .cu or .cuh."""
    return next(LADDER.glob(f"{rung}.cu*"))


def write_back_lines(rung):
    """The lines between the two comments, as a set."""
    lines, inside = set(), False
    for number, line in enumerate(source_of(rung).read_text().splitlines(), 1):
        if line.rstrip().endswith("// write-back"):
            inside = True
        if inside:
            lines.add(number)
        if line.rstrip().endswith("// write-back ends"):
            inside = False
    return lines


def samples_by_line(action, rung):
    """{line of the rung's file: samples}; the key 0 collects what stands before any of them."""
    by_address = collections.Counter()
    for name in action.metric_names():
        if not name.startswith(SAMPLES) or name.endswith("_not_issued"):
            continue
        metric = action.metric_by_name(name)
        addresses = metric.correlation_ids()
        for i in range(metric.num_instances()):
            by_address[addresses.as_uint64(i)] += metric.as_uint64(i)
    starts, lines = [], []
    for address in sorted(by_address):
        source = action.source_info(address)
        if source is not None and pathlib.Path(source.file_name()).name == source_of(rung).name:
            starts.append(address)
            lines.append(source.line())
    by_line = collections.Counter()
    for address, count in by_address.items():
        at = bisect.bisect_right(starts, address) - 1
        by_line[lines[at] if at >= 0 else 0] += count
    return by_line


def profile(options, matrix, rung):
    report = options.out / f"{matrix.stem}-{rung}.ncu-rep"
    command = ["ncu", "--clock-control", "none", "-f", "-o", str(report.with_suffix("")), "-c", "1",
               "-k", f"regex:{RUNGS[rung]}", "--metrics",
               f"{TIME},{DRAM},{L2},group:smsp__pcsamp_warp_stall_reasons",
               str(options.tools / "csr-spgemm-gpu"), str(matrix), "--kernel", rung,
               "--nondeterministic", "--repeat", "1", "--warmup", "0", "--quiet", "--value-kind",
               options.value_kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not report.exists():
        return None, (done.stdout + done.stderr).strip()[-300:]
    action = load_ncu_report().load_report(str(report)).range_by_idx(0).action_by_idx(0)
    by_line = samples_by_line(action, rung)
    samples = sum(by_line.values())
    writing = sum(by_line[line] for line in write_back_lines(rung))
    seconds = action.metric_by_name(TIME).as_double() * 1e-9
    return {"ms": seconds * 1e3, "dram": action.metric_by_name(DRAM).as_double() / seconds / 1e9,
            "l2": action.metric_by_name(L2).as_double() / seconds / 1e9,
            "share": writing / samples if samples else float("nan"), "samples": samples}, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("matrices", type=pathlib.Path, nargs="+")
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--value-kind", default="f64")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    print("| matrix | rung | kernel ms | write-back, share of samples | memory GB/s | L2 GB/s |")
    print("|---|---|---:|---:|---:|---:|")
    failures = 0
    for matrix in options.matrices:
        for rung in RUNGS:
            seen, why = profile(options, matrix, rung)
            if seen is None:
                failures += 1
                print(f"{matrix.stem} {rung}: {why}", file=sys.stderr)
                continue
            print(f"| {matrix.stem} | `{rung}` | {seen['ms']:.3f} | {100 * seen['share']:.1f} % of "
                  f"{seen['samples']} | {seen['dram']:.0f} | {seen['l2']:.0f} |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
