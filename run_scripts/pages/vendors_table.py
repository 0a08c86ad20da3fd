#!/usr/bin/env python3
"""The table of one operation on a CPU against every vendor of the build, from the records of csr-bench.

Usage: vendors_table.py [SET=]RECORDS.jsonl[.gz]... [--ours KERNEL]       (default: cpu.spmm.auto)

One row per matrix, K, value kind and state of the caches: time of ours and of every vendor, speed-up on the best of
them with its 95 % interval ("level" if that includes 1; of pairs where all were measured in turn), share of the gather
mark (time of the mark over ours) where it was measured. Later records of a case replace earlier ones. A case that failed
or was not checked is named and makes the exit code 1.
"""
import argparse
import collections
import pathlib
import sys

import tables

NAMES = {"vendor_mkl": "MKL", "vendor_eigen": "Eigen", "vendor_graphblas": "GraphBLAS", "vendor_librsb": "librsb"}
MARK = "gather_mark"


def collect(sets, ours):
    """{(set, matrix, K, value kind, caches): {last part of a kernel's name: record}}"""
    room = ours.rpartition(".")[0] + "."
    cases, problems = collections.defaultdict(dict), []
    for label, path in sets:
        for record in tables.read_records(path):
            case = record["case"]
            if not case["kernel"].startswith(room):
                continue
            name = pathlib.Path(record["matrix"]).stem
            checked = record.get("role") == "mark" or (record.get("check") or {}).get("passed")
            if record["status"] != "done" or not checked:
                problems.append(f"{path}: {name}, {case['kernel']}: {record.get('reason') or 'not checked'}")
                continue
            key = (label, name, case["dense_cols"], case["value_kind"], case["caches"])
            cases[key][case["kernel"].removeprefix(room)] = record
    return cases, problems


def rows_of(cases, ours):
    own = ours.rpartition(".")[2]
    vendors = [name for name in NAMES if any(name in by_kernel for by_kernel in cases.values())]
    for (label, matrix, dense_cols, kind, caches), by_kernel in cases.items():
        if own not in by_kernel:
            continue
        record = by_kernel[own]
        present = [name for name in vendors if name in by_kernel]
        best = min(present, key=lambda name: by_kernel[name]["median_seconds"], default=None)
        speed = tables.speed_up(by_kernel[best], record) if best else None
        mark = by_kernel.get(MARK)
        row = {"matrix": matrix, "set": label, "nnz": f"{record['nnz']:,}",
               "K": "-" if dense_cols is None else str(dense_cols), "value kind": kind, "caches": caches,
               "csrkit ms": f"{1e3 * record['median_seconds']:.3g}"}
        for name in vendors:
            seconds = by_kernel[name]["median_seconds"] if name in by_kernel else None
            row[f"{NAMES[name]} ms"] = f"{1e3 * seconds:.3g}" if seconds else "-"
        row.update({"speed-up": f"{speed[0]:.2f}" if speed else "-",
                    "interval": tables.interval_cell(speed) if speed else "-",
                    "best vendor": NAMES.get(best, "-"),
                    "share of the gather mark":
                        f"{mark['median_seconds'] / record['median_seconds']:.2f}" if mark else "-"})
        yield row


def data_rows(sets, ours):
    """The rows of docs/results for records by set: [(label, path)]. A failed case is an error."""
    cases, problems = collect(sets, ours)
    if problems:
        raise SystemExit("\n".join(problems))
    return list(rows_of(cases, ours))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", metavar="[SET=]RECORDS.jsonl[.gz]")
    parser.add_argument("--ours", default="cpu.spmm.auto", metavar="KERNEL")
    options = parser.parse_args()
    split = [text.rpartition("=") for text in options.records]
    cases, problems = collect([(label or "all", pathlib.Path(path)) for label, _, path in split], options.ours)
    rows = list(rows_of(cases, options.ours))
    if not rows:
        raise SystemExit(f"no case has {options.ours}")
    sys.stdout.write(tables.markdown(list(rows[0]), [list(row.values()) for row in rows]))
    for problem in problems:
        print(f"vendors_table.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
