#!/usr/bin/env python3
"""C = A A on a GPU, ours against cuSPARSE, f64 and f32: measures with csr-bench, prints the tables.

Usage: spgemm_gpu_table.py MATRIX.csr ... --tools FOLDER --records OUT.jsonl [--value-kinds f64,f32]
                           [--repeat 7] [--ours gpu.spgemm.auto] [--vendor gpu.spgemm.vendor_cusparse]
       spgemm_gpu_table.py --records OUT.jsonl        prints the tables of records that exist

FOLDER holds csr-bench. A matrix that is not square is multiplied by its transpose. Every product is checked
(rows of big ones by sampling) before it is timed; a failure is a row of the table and makes the exit code 1.

Columns: median milliseconds of ours and of cuSPARSE's best algorithm from CSR to CSR; their ratio with its 95 %
interval ("level" if that includes 1; of pairs where both were measured in turn); lead
over the best research code (through that code's own ratio to cuSPARSE, spgemm_gpu_research.tsv); the numeric
phase alone, with new values for a known structure, of ours and of cuSPARSE, their ratio, and ours over the
mark "numeric only" of that file; ours' peak memory with A, over the larger of 1.5 (A + B + C) and
A + B + C + 64 MiB; the peak while the structure is kept for new values, with what is kept, over A + B + C;
products per entry of C and, where they are more than 4, ours from CSR to CSR over cuSPARSE's numeric phase alone.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import tables

RESEARCH = pathlib.Path(__file__).resolve().parent / "spgemm_gpu_research.tsv"
MIB = 1 << 20


HEADINGS = ["matrix", "csrkit ms", "cuSPARSE ms", "speed-up", "interval", "lead on the best research code", "new values ms",
            "cuSPARSE new values ms", "new values speed-up", "new values / target", "share of the allowed peak",
            "peak with new values / (A + B + C)", "products per entry", "times the numeric mark"]
# C is much smaller than its products: then making its structure should cost little beside its values.
MANY_PRODUCTS = 4


def read_research():
    return {row["matrix"]: row for row in tables.read_tsv(RESEARCH)[1]}


def measure(options):
    squares, others = [], []
    for matrix in options.matrices:
        info = subprocess.run([options.tools / "csr-info", matrix, "--json"], capture_output=True, text=True,
                              check=True)
        shape = json.loads(info.stdout)
        (squares if shape["rows"] == shape["cols"] else others).append(matrix)
    for matrices, more in ((squares, []), (others, ["--transpose"])):
        if not matrices:
            continue
        subprocess.run([options.tools / "csr-bench", *matrices, "--kernels", f"{options.ours},{options.vendor}",
                        "--value-kind", options.value_kinds, "--repeat", str(options.repeat), "--reuse", "--check",
                        "--records", options.records, "--resume", "--quiet", *more], check=False)


def operand_and_result_bytes(record):
    # Records of schema 1 have the shape of A under its name, and the kind of C in its shape.
    kind = {"f64": 8, "f32": 4}[record["kinds"]["c"] if "kinds" in record else record["c"]["kind"]]
    shapes = [record.get("a", record), record["c"]] + ([] if record["b_is_a"] and not record["transpose_b"] else [record["b"]])
    return sum((shape["rows"] + 1) * 4 + shape["nnz"] * (4 + kind) for shape in shapes)


def row_of(name, kind, ours, vendor, research):
    """Cells of one row, and the numbers that are averaged."""
    if ours is None or ours["status"] != "done":
        return [name, "failed: " + (ours["reason"] if ours else "not measured")] + [""] * (len(HEADINGS) - 2), {}
    numbers = {}
    mine = 1e3 * ours["median_seconds"]
    code = research.get(name, {})
    cells = [name, f"{mine:.3f}", "failed" if vendor else "not measured", "", "", "",
             f"{1e3 * ours['numeric_median_seconds']:.3f}" if "numeric_median_seconds" in ours else "", "", "", ""]
    if vendor is not None and vendor["status"] == "done":
        theirs = 1e3 * vendor["median_seconds"]
        speed = tables.speed_up(vendor, ours)
        numbers["ratio"] = speed[0]
        cells[2:5] = [f"{theirs:.3f}", f"{numbers['ratio']:.2f}", tables.interval_cell(speed)]
        if code.get(f"{kind}_code", "-") != "-":
            numbers["lead"] = numbers["ratio"] / (float(code[f"{kind}_cusparse"]) / float(code[f"{kind}_code"]))
            cells[5] = f"{numbers['lead']:.2f} {code[f'code_name_{kind}']}"
        if "numeric_median_seconds" in vendor and "numeric_median_seconds" in ours:
            numbers["reuse"] = vendor["numeric_median_seconds"] / ours["numeric_median_seconds"]
            cells[7:9] = [f"{1e3 * vendor['numeric_median_seconds']:.3f}", f"{numbers['reuse']:.2f}"]
            if ours["compression"] > MANY_PRODUCTS:
                numbers["whole"] = mine / (1e3 * vendor["numeric_median_seconds"])
    if kind == "f64" and code and "numeric_median_seconds" in ours:
        numbers["mark"] = 1e3 * ours["numeric_median_seconds"] / float(code["f64_numeric"])
        cells[9] = f"{numbers['mark']:.1f}"
    bytes_moved = operand_and_result_bytes(ours)
    numbers["peak"] = ours["peak_bytes"] / max(1.5 * bytes_moved, bytes_moved + 64 * MIB)
    kept = ours.get("reuse_peak_bytes")
    if kept:
        numbers["kept"] = kept / bytes_moved
    return cells + [f"{numbers['peak']:.2f}", f"{numbers['kept']:.2f}" if kept else "", f"{ours['compression']:.1f}",
                    f"{numbers['whole']:.2f}" if "whole" in numbers else ""], numbers


def rows_of(records, kind, ours, vendor):
    """[(matrix, cells, numbers)] of the records of one value kind, in their order."""
    research = read_research()
    by_case, order = {}, []
    for record in records:
        case = record["case"]
        if case["value_kind"] != kind:
            continue
        name = pathlib.Path(record["matrix"]).stem
        if name not in order:
            order.append(name)
        by_case[name, case["kernel"]] = record
    for name in order:
        yield name, *row_of(name, kind, by_case.get((name, ours)), by_case.get((name, vendor)), research)


def data_rows(sets, ours="gpu.spgemm.auto", vendor="gpu.spgemm.vendor_cusparse"):
    """The rows of docs/results for records by set: [(label, path)]. A failed case is an error."""
    rows = []
    for label, path in sets:
        records = tables.read_records(path)
        for kind in dict.fromkeys(record["case"]["value_kind"] for record in records):
            for name, cells, numbers in rows_of(records, kind, ours, vendor):
                if not numbers:
                    raise SystemExit(f"{path}: {name}: {cells[1]}")
                row = dict(zip(HEADINGS, cells))
                rows.append({"matrix": row.pop("matrix"), "set": label, "value kind": kind, **row})
    return rows


def table(records, kind, options):
    columns, failed, lines = {}, False, []
    for name, cells, numbers in rows_of(records, kind, options.ours, options.vendor):
        failed = failed or not numbers
        for key, number in numbers.items():
            columns.setdefault(key, {})[name] = number
        lines.append(cells)
    words = []
    for key, what, worst in (("ratio", "over cuSPARSE", min), ("lead", "over the best research code", min),
                             ("reuse", "over cuSPARSE with new values", min), ("mark", "of the mark", max),
                             ("peak", "of the memory allowed", max), ("whole", "of the numeric mark", max)):
        if key in columns:
            name = worst(columns[key], key=columns[key].get)
            words.append(f"{what} {tables.geometric_mean(columns[key].values()):.2f} (n={len(columns[key])}, worst "
                         f"{columns[key][name]:.2f} on {name})")
    headings = [f"{HEADINGS[0]}, {kind}", *HEADINGS[1:]]
    return tables.markdown(headings, lines) + "\nGeometric means: " + "; ".join(words) + ".\n", failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("matrices", type=pathlib.Path, nargs="*")
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--value-kinds", default="f64,f32")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--ours", default="gpu.spgemm.auto")
    parser.add_argument("--vendor", default="gpu.spgemm.vendor_cusparse")
    options = parser.parse_args()
    if options.matrices:
        if options.tools is None:
            parser.error("--tools FOLDER says where csr-bench is")
        measure(options)
    records = tables.read_records(options.records)
    failed = False
    for kind in options.value_kinds.split(","):
        text, some_failed = table(records, kind, options)
        failed = failed or some_failed
        print(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
