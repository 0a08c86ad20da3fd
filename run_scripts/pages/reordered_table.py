#!/usr/bin/env python3
"""What an order brings SpMM on a GPU, beside the vendor on both files, from the records of csr-bench.

Usage: reordered_table.py RECORDS.jsonl[.gz]...

A file that csr-reorder made names the file that it was made of in its history; one row for each such pair, and number of
dense columns. "Over the file as given" is the vendor's time on the file as given over ours on the reordered one;
"over the same file" is the vendor's time on the reordered file over ours there, with its 95 % interval. "Order s" is what
the method and the move of the matrix took, "analysis s" what the plan did; they have paid back after so many products,
compared with our own product of the file as given; a gain of less than 1 % counts as none. Later records of a case replace earlier ones; one that failed or was
not checked is named, with exit code 1.
"""
import argparse
import collections
import pathlib
import sys

import tables

OURS, VENDOR = "gpu.spmm.auto", "gpu.spmm.vendor_cusparse"


def collect(paths):
    """({(digest, K): {kernel: record}}, {digest of a reordered file: digest of the file as given})"""
    cases, made_of = collections.defaultdict(dict), {}
    for path in paths:
        for record in tables.read_records(path):
            case = record["case"]
            if case["kernel"] not in (OURS, VENDOR):
                continue
            if record["status"] != "done" or not (record.get("check") or {}).get("passed"):
                raise SystemExit(f"{path}: {record['matrix']}, {case['kernel']}: {record.get('reason') or 'not checked'}")
            digest = case["matrix_xxh3_128"]
            cases[digest, case["dense_cols"]][case["kernel"]] = record
            last = record["history"][-1] if record["history"] else {}
            if "order_seconds" in last:
                made_of[digest] = last["inputs_xxh3_128"][0]
    return cases, made_of


def pays_back(order, analysis, given, reordered):
    gain = given - reordered
    return f"{(order + analysis) / gain:,.0f}" if gain > 0.01 * given else "never"


def rows_of(cases, made_of):
    for (digest, dense_cols), after in cases.items():
        before = cases.get((made_of.get(digest), dense_cols), {})
        if any(kernel not in group for kernel in (OURS, VENDOR) for group in (before, after)):
            continue
        ours, vendor = after[OURS], after[VENDOR]
        same = tables.speed_up(vendor, ours)
        order, analysis = ours["history"][-1]["order_seconds"], ours["phases"]["analysis_seconds"]
        given, reordered = before[OURS]["median_seconds"], ours["median_seconds"]
        yield {"matrix": pathlib.Path(before[OURS]["matrix"]).stem, "nnz": f"{ours['nnz']:,}", "K": str(dense_cols),
               "csrkit as given s": f"{given:.4g}", "csrkit reordered s": f"{reordered:.4g}",
               "cuSPARSE as given s": f"{before[VENDOR]['median_seconds']:.4g}",
               "cuSPARSE reordered s": f"{vendor['median_seconds']:.4g}",
               "over the file as given": f"{before[VENDOR]['median_seconds'] / reordered:.2f}",
               "over the same file": f"{same[0]:.2f}", "interval": tables.interval_cell(same),
               "order s": f"{order:.3g}", "analysis s": f"{analysis:.3g}",
               "pays back after": pays_back(order, analysis, given, reordered)}


def data_rows(paths):
    """The rows of docs/results for records. A failed case is an error."""
    return list(rows_of(*collect(paths)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=pathlib.Path, metavar="RECORDS.jsonl[.gz]")
    rows = data_rows(parser.parse_args().records)
    if not rows:
        raise SystemExit(f"no reordered file has {OURS} and {VENDOR}, and so has the file that it was made of")
    sys.stdout.write(tables.markdown(list(rows[0]), [list(row.values()) for row in rows]))


if __name__ == "__main__":
    main()
