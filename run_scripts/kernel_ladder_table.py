#!/usr/bin/env python3
"""Fills the table of docs/kernel_ladder.md from records of csr-bench.

Usage: kernel_ladder_table.py RECORDS.jsonl... [--kernels PREFIX] [--without LIST]
                              [--page docs/kernel_ladder.md --name NAME]

One row per matrix and number of dense columns, one column per kernel in the order of the records, GFLOP/s
by the median, the fastest that is no mark in bold. Without --page the table goes to stdout; with it, between
the lines <!-- table NAME --> and <!-- end --> of that page.
"""
import argparse
import json
import pathlib
import sys


def table_of(paths, prefix, without):
    kernels, rows, files = [], {}, {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SystemExit(f"{path}: {error.strerror}; expected records of csr-bench --records")
        for number, line in enumerate(text.splitlines(), 1):
            try:
                record = json.loads(line)
                case = record["case"]
                name = case["kernel"]
            except (ValueError, KeyError, TypeError):
                raise SystemExit(f"{path}:{number}: no record of csr-bench")
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
                    raise SystemExit(f"{path}:{number}: {record['matrix']} would have the row of {file}; measure one "
                                     "of them under another name")
                is_mark = record.get("role") == "mark" or short.startswith("gather_mark")
                cells[short] = (record["gflops"], is_mark)
    if not rows:
        raise SystemExit(f"no warm record of a kernel {prefix}*")
    lines = ["| matrix | K | " + " | ".join(f"`{kernel}`" for kernel in kernels) + " |",
             "|---|---:|" + "---:|" * len(kernels)]
    for (matrix, cols), cells in rows.items():
        best = max((gflops for gflops, is_mark in cells.values() if not is_mark), default=None)
        texts = []
        for kernel in kernels:
            if kernel not in cells:
                texts.append("-")
                continue
            gflops, is_mark = cells[kernel]
            text = f"{gflops:.0f}" if gflops >= 10 else f"{gflops:.1f}"
            texts.append(f"**{text}**" if gflops == best and not is_mark else text)
        lines.append(f"| {matrix} | {cols} | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    parser.add_argument("--kernels", default="gpu.spmm.", metavar="PREFIX")
    parser.add_argument("--without", default="", metavar="LIST", help="kernels to leave out")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--name", default="spmm")
    options = parser.parse_args()
    table = table_of(options.records, options.kernels, options.without.split(","))
    if not options.page:
        sys.stdout.write(table)
        return 0
    page = options.page.read_text(encoding="utf-8")
    begin, end = f"<!-- table {options.name} -->\n", "<!-- end -->"
    at = page.find(begin)
    if at < 0 or page.find(end, at) < 0:
        raise SystemExit(f"{options.page}: has no place for the table: {begin.strip()} and {end}")
    at += len(begin)
    options.page.write_text(page[:at] + table + page[page.find(end, at):], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
