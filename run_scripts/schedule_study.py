#!/usr/bin/env python3
"""How rows should be shared out, per data set: every OpenMP schedule and chunk of the ladder's parallel
rungs against equal pieces of nonzeros. Prints the table of docs/performance.md.

Usage: schedule_study.py [--bin build/tools] [--threads 16] [-k 32] [--records FILE] MATRIX.csr ...

GFLOP/s, median; the best schedule of a rung is bold. `auto` is the product; `cut` rows are in pieces.
"""
import argparse
import json
import os
import pathlib
import subprocess

SCHEDULES = [("static", 0), ("static", 64), ("dynamic", 1), ("dynamic", 64), ("dynamic", 1024), ("guided", 0), ("guided", 64)]
RUNGS = ["row_parallel", "register_blocks", "long_rows_split"]


def gflops(options, matrix, width, kernel, schedule=None, chunk=0):
    command = [options.bin / "csr-spmm-cpu", matrix, "-k", width, "--kernel", kernel, "--threads", options.threads,
               "--repeat", options.repeat, "--warmup", 2, "--json"]
    if schedule:
        command += ["--schedule", schedule] + (["--chunk", chunk] if chunk else [])
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), OMP_PLACES="cores", OMP_PROC_BIND="close")
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    record.update(matrix=matrix.stem, schedule=schedule, chunk=chunk, threads=options.threads)
    if options.records:
        with open(options.records, "a") as records:
            records.write(json.dumps(record) + "\n")
    return record["gflops"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-k", "--dense-cols", default="32", type=lambda text: [int(k) for k in text.split(",")])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rungs", default=",".join(RUNGS))
    parser.add_argument("--records", type=pathlib.Path)
    options = parser.parse_args()
    names = [schedule + (f" {chunk}" if chunk else "") for schedule, chunk in SCHEDULES]
    print("| matrix | K | kernel | " + " | ".join(names) + " |")
    print("|---|---:|---|" + "---:|" * len(names))
    for matrix in options.matrices:
        for width in options.dense_cols:
            for rung in options.rungs.split(","):
                speeds = [gflops(options, matrix, width, rung, *schedule) for schedule in SCHEDULES]
                cells = [f"**{speed:.1f}**" if speed == max(speeds) else f"{speed:.1f}" for speed in speeds]
                print(f"| {matrix.stem} | {width} | `{rung}` | " + " | ".join(cells) + " |", flush=True)
            print(f"| {matrix.stem} | {width} | `auto` | {gflops(options, matrix, width, 'auto'):.1f} |" + " |" * (len(names) - 1), flush=True)


if __name__ == "__main__":
    main()
