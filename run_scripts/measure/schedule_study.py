#!/usr/bin/env python3
"""How rows should be shared out, per data set: every OpenMP schedule and chunk, and the unrolled widths of
the ladder's parallel rungs, against the naive loops and equal pieces of nonzeros. Prints the table of
docs/results; csr-report makes a section of the records.

Usage: schedule_study.py [--bin build/tools] [--threads 4,16] [-k 32,256] [--records FILE] MATRIX.csr ...

GFLOP/s, median; the best schedule of a rung is bold. `naive` runs on one thread, `auto` is the product.
With --seconds the study ends in order: what is left out is not in the table.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

SCHEDULES = [("static", 0), ("static", 64), ("dynamic", 1), ("dynamic", 64), ("dynamic", 1024), ("guided", 0), ("guided", 64)]
RUNGS = ["row_parallel", "unrolled:4", "unrolled:8", "unrolled:16", "unrolled:32", "register_blocks", "long_rows_split"]


class OutOfTime(Exception):
    pass


def gflops(options, matrix, width, kernel, threads, schedule=None, chunk=0):
    if options.seconds and time.monotonic() - options.began > options.seconds:
        raise OutOfTime
    name, _, variant = kernel.partition(":")
    command = [options.bin / "csr-spmm-cpu", matrix, "-k", width, "--kernel", name, "--threads", threads,
               "--repeat", options.repeat if kernel != "naive" else 1, "--warmup", 2 if kernel != "naive" else 0, "--json"]
    if variant:
        command += ["--variant", variant]
    if schedule:
        command += ["--schedule", schedule] + (["--chunk", chunk] if chunk else [])
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PLACES="cores", OMP_PROC_BIND="close")
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    record.update(matrix=matrix.stem, schedule=schedule, chunk=chunk, threads=threads)
    if options.records:
        with open(options.records, "a") as records:
            records.write(json.dumps(record) + "\n")
    return record["gflops"]


def rows_of(options, matrix, width, threads, naive):
    for rung in options.rungs:
        speeds = [gflops(options, matrix, width, rung, threads, *schedule) for schedule in SCHEDULES]
        cells = [f"**{speed:.1f}**" if speed == max(speeds) else f"{speed:.1f}" for speed in speeds]
        yield rung, cells, max(speeds) / naive
    speed = gflops(options, matrix, width, "auto", threads)
    yield "auto", [f"{speed:.1f}"] + [""] * (len(SCHEDULES) - 1), speed / naive


def main():
    def numbers(text):
        return [int(number) for number in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/tools"))
    parser.add_argument("--threads", type=numbers, default=[len(os.sched_getaffinity(0))])
    parser.add_argument("-k", "--dense-cols", default="32", type=numbers)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--rungs", default=RUNGS, type=lambda text: text.split(","))
    parser.add_argument("--records", type=pathlib.Path)
    options = parser.parse_args()
    options.began = time.monotonic()
    names = [schedule + (f" {chunk}" if chunk else "") for schedule, chunk in SCHEDULES]
    print("| matrix | K | threads | kernel | " + " | ".join(names) + " | over naive |")
    print("|---|---:|---:|---|" + "---:|" * (len(names) + 1))
    try:
        for matrix in options.matrices:
            for width in options.dense_cols:
                naive = gflops(options, matrix, width, "naive", 1)
                for threads in options.threads:
                    for rung, cells, over in rows_of(options, matrix, width, threads, naive):
                        print(f"| {matrix.stem} | {width} | {threads} | `{rung}` | " + " | ".join(cells) + f" | {over:.1f} |",
                              flush=True)
    except OutOfTime:
        print(f"schedule_study.py: out of time (--seconds {options.seconds:g}); the rest is left out", file=sys.stderr)


if __name__ == "__main__":
    main()
