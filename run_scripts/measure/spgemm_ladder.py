#!/usr/bin/env python3
"""Measures every rung of the SpGEMM ladder on A * A and prints the table of the ladder.

Usage: spgemm_ladder.py MATRIX.csr ... --tools FOLDER --records OUT.jsonl [--value-kind f64] [--repeat 5]

FOLDER holds csr-spgemm-gpu and csr-spgemm-cpu. Every product is checked (rows of big ones by sampling)
before it is timed; a failure is a row of the table. One JSON report per case goes to the records.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
import tables

RUNGS = ["v0_thread_per_row", "v1_cached_members", "v2_block_per_row", "v3_batched_writes",
         "v4_thread_counts", "v5_prefix_sum", "auto", "vendor_cusparse"]


def run(command, environment=None):
    """The report of one case, or why there is none."""
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode == 0:
        return json.loads(done.stdout)
    return {"failed": f"exit code {done.returncode}: {(done.stderr.splitlines() or [''])[0]}"}


def cases(options, matrix):
    common = [str(matrix), "--check", "--json", "--value-kind", options.value_kind, "--repeat",
              str(options.repeat), "--nondeterministic"]
    for rung in RUNGS:
        # What users get is measured as they get it: the same bits every time.
        kept = [part for part in common if rung != "auto" or part != "--nondeterministic"]
        yield f"gpu.spgemm.{rung}", [options.tools / "csr-spgemm-gpu", *kept, "--kernel", rung], {}
    for threads in sorted({1, os.cpu_count()}):
        yield (f"cpu.spgemm.auto, {threads} thread{'s' if threads > 1 else ''}",
               [options.tools / "csr-spgemm-cpu", *common[:-1], "--threads", str(threads)],
               {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"})


def table(reports, matrices):
    headings = ["kernel"] + [text for m in matrices for text in (f"{m.stem} ms", "of it sorting", "gain")]
    rows, previous = [], {}
    for kernel in dict.fromkeys(kernel for _, kernel in reports):
        cells = [f"`{kernel}`"]
        for matrix in matrices:
            report = reports[matrix, kernel]
            if "failed" in report:
                cells += ["failed", "", ""]
                continue
            milliseconds = 1e3 * report["median_seconds"]
            sorting = 1e3 * report["phases"].get("sort_seconds", 0)
            gain = ""
            if kernel.startswith("gpu."):
                gain = f"{previous[matrix] / milliseconds:.2f}" if matrix in previous else ""
                previous[matrix] = milliseconds
            cells += [f"{milliseconds:.3f}", f"{sorting:.3f}" if sorting else "", gain]
        rows.append(cells)
    return tables.markdown(headings, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("matrices", type=pathlib.Path, nargs="+")
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--value-kind", default="f64")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()

    reports = {}
    with options.records.open("w") as records:
        for matrix in options.matrices:
            for kernel, command, environment in cases(options, matrix):
                report = run(command, environment)
                reports[matrix, kernel] = report
                records.write(json.dumps({**report, "matrix": str(matrix), "kernel": kernel}) + "\n")
                records.flush()
                if "failed" in report:
                    print(f"{matrix.stem} {kernel}: {report['failed']}", file=sys.stderr)
    print(table(reports, options.matrices), end="")
    return 0 if all("failed" not in report for report in reports.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
