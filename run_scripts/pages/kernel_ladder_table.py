#!/usr/bin/env python3
"""Prints the table of a kernel ladder from records of csr-bench.

Usage: kernel_ladder_table.py RECORDS.jsonl[.gz]... [--kernels PREFIX] [--without LIST]

One row per matrix and number of dense columns, one column per kernel in the order of the records: GFLOP/s
by the median. The fastest kernel that is no mark is bold. The tables of docs/kernel_ladder.md come from kept
records by results_pages.py, which calls data_rows.
"""
import argparse
import pathlib
import sys

import tables


def cases_of(paths, prefix, without):
    """(kernels, {(matrix, K): {kernel: (GFLOP/s, is a mark)}}) of the warm records."""
    kernels, rows, files = [], {}, {}
    for path in paths:
        for line, record in enumerate(tables.read_records(path), 1):
            try:
                case = record["case"]
                name = case["kernel"]
            except (KeyError, TypeError):
                raise SystemExit(f"{path}:{line}: no record of csr-bench")
            if not name.startswith(prefix) or case["caches"] != "warm":
                continue
            short = name[len(prefix):]
            if short in without:
                continue
            if short not in kernels:
                kernels.append(short)
            matrix = pathlib.Path(record["matrix"]).stem + ("-T" if case.get("transpose") else "")
            cells = rows.setdefault((matrix, case["dense_cols"]), {})
            if record["status"] == "done":
                file = files.setdefault((matrix, case["dense_cols"], short), record["matrix"])
                if file != record["matrix"]:
                    raise SystemExit(f"{path}:{line}: {record['matrix']} would have the row of {file}; measure one "
                                     "of them under another name")
                is_mark = record.get("role") == "mark" or short.startswith("gather_mark")
                cells[short] = (record["gflops"], is_mark)
    if not rows:
        raise SystemExit(f"no warm record of a kernel {prefix}*")
    return kernels, rows


def text_of(gflops):
    return f"{gflops:.0f}" if gflops >= 10 else f"{gflops:.1f}"


def data_rows(paths, prefix, without=()):
    """One dict per matrix and K, with a cell per kernel."""
    kernels, rows = cases_of(paths, prefix, without)
    return [{"matrix": matrix, "K": str(cols),
             **{kernel: text_of(cells[kernel][0]) if kernel in cells else "-" for kernel in kernels}}
            for (matrix, cols), cells in rows.items()]


def table_of(paths, prefix, without):
    kernels, rows = cases_of(paths, prefix, without)
    cells = []
    for (_, row), by_kernel in zip(rows.items(), data_rows(paths, prefix, without)):
        best = max((gflops for gflops, is_mark in row.values() if not is_mark), default=None)
        for kernel, (gflops, is_mark) in row.items():
            if gflops == best and not is_mark:
                by_kernel[kernel] = f"**{by_kernel[kernel]}**"
        cells.append(list(by_kernel.values()))
    return tables.markdown(["matrix", "K", *(f"`{kernel}`" for kernel in kernels)], cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    parser.add_argument("--kernels", default="gpu.spmm.", metavar="PREFIX")
    parser.add_argument("--without", default="", metavar="LIST", help="kernels to leave out")
    options = parser.parse_args()
    sys.stdout.write(table_of(options.records, options.kernels, options.without.split(",")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
