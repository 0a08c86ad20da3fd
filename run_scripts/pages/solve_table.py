#!/usr/bin/env python3
"""The tables of solvers on a GPU, from the records of solve_turns.py.

Usage: solve_table.py sparse|refined|dense RECORDS.jsonl[.gz]...

sparse and dense: microseconds of an iteration, ours and the vendor's, medians over all rounds. "of the bytes" is our
time with A uncompressed over that of the bytes a fused iteration moves: A and ten vectors at 4.2 TB/s; dense: half of A
at 4.27 TB/s; "-" where L2 holds them. refined: milliseconds of whole solves, and |b - A x| / |b|. Intervals are of pairs from the same round, with
95 % confidence.
"""
import argparse
import collections
import pathlib
import statistics
import sys

import tables

PLAIN = "csrkit, plain CSR"


def collect(kind, paths):
    """{system: {who: a record of all rounds}}"""
    rounds = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in paths:
        for record in tables.read_records(path):
            if record["kind"] == kind:
                rounds[record["matrix"]][record["who"]].append(record)
    return {system: {who: merged(records) for who, records in by.items()} for system, by in rounds.items()}


def merged(records):
    """One record with the samples of all rounds, in seconds of the solve, which take turns with those of the others."""
    records.sort(key=lambda record: record["round"])
    # The first solve of a process makes the CUDA graph.
    samples = [seconds for record in records for seconds in record["samples_seconds"][1:]]
    return {**records[-1], "samples_seconds": samples, "median_seconds": statistics.median(samples),
            "turns": {"id": "rounds"}}


def microseconds(record):
    return 1e6 * record["median_seconds"] / record["iterations"]


def of_the_bytes(record, size_bytes, bytes_per_second):
    l2_bytes = 60e6
    return "-" if size_bytes < l2_bytes else f"{microseconds(record) / (1e6 * size_bytes / bytes_per_second):.2f}"


def compared(other, ours):
    speed = tables.speed_up(other, ours)
    return f"{speed[0]:.2f}", tables.interval_cell(speed)


def what_ran(record):
    """'one_pass, stencil': the solver, and the product if it has one of another table."""
    product = record["choice"].partition("products: ")[2].split(" (")[0].split(",")[0]
    return record["run"] + (f", {product}" if product else "")


def name_of(system, record):
    return f"{system} x {system}" if system.isdigit() and record["kind"] != "dense" else system


def sparse_row(system, by):
    ours, plain, sliced, vendor = (by[who] for who in ("csrkit", PLAIN, "csrkit, sell", "cuSPARSE + cuBLAS"))
    bytes_moved = 12 * ours["nnz"] + 8 * ours["rows"] + 80 * ours["rows"]
    speed, interval = compared(vendor, ours)
    return {"system": name_of(system, ours), "rows": f"{ours['rows']:,}", "nnz": f"{ours['nnz']:,}",
            "csrkit us": f"{microseconds(ours):.1f}", "plain CSR us": f"{microseconds(plain):.1f}", "sell us": f"{microseconds(sliced):.1f}",
            "cuSPARSE + cuBLAS us": f"{microseconds(vendor):.1f}", "speed-up": speed, "interval": interval,
            "plain CSR's speed-up": compared(vendor, plain)[0], "sell's speed-up": compared(vendor, sliced)[0],
            "plain CSR, of the bytes": of_the_bytes(plain, bytes_moved, 4.2e12),
            "sell, of the bytes": of_the_bytes(sliced, bytes_moved, 4.2e12), "what ran": what_ran(ours)}


def dense_row(system, by):
    ours, vendors = by["csrkit"], [record for who, record in by.items() if who != "csrkit"]
    speed, interval = compared(min(vendors, key=microseconds), ours)
    return {"rows": f"{ours['rows']:,}", "csrkit us": f"{microseconds(ours):.1f}",
            **{f"{who} us": f"{microseconds(record):.1f}" for who, record in by.items() if who != "csrkit"},
            "speed-up": speed, "interval": interval,
            "of the bytes": of_the_bytes(ours, 2 * ours["rows"] ** 2, 4.27e12), "what ran": what_ran(ours)}


def refined_row(system, by):
    wide, ours = by["f64"], by["refined"]
    speed, interval = compared(wide, ours)
    row = {"system": name_of(system, ours), "rows": f"{ours['rows']:,}"}
    for who, record in by.items():
        row.update({f"{who} ms": f"{1e3 * record['median_seconds']:.2f}", f"{who} iterations": str(record["iterations"]),
                    f"{who} residual": f"{record['true_norm'] / record['rhs_norm']:.1e}"})
    return {**row, "speed-up": speed, "interval": interval}


def data_rows(kind, paths):
    """The rows of docs/results."""
    row_of = {"sparse": sparse_row, "dense": dense_row, "refined": refined_row}[kind]
    return [row_of(system, by) for system, by in collect(kind, paths).items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("sparse", "refined", "dense"))
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    rows = data_rows(options.kind, options.records)
    if not rows:
        raise SystemExit(f"solve_table.py: no records of {options.kind}")
    print(tables.markdown(list(rows[0]), [list(row.values()) for row in rows]), end="")


if __name__ == "__main__":
    sys.exit(main())
