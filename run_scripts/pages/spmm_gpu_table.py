#!/usr/bin/env python3
"""The tables of SpMM and SpMV on a GPU, from the records of csr-bench.

Usage: spmm_gpu_table.py [SET=]RECORDS.jsonl... [--json OUT.json] [--markdown OUT.md]

One row per matrix, number of dense columns and state of the caches that has ours and the vendor's, every
row where ours loses included; then geometric means per set, columns and caches. SET is a label, e.g.
stand-ins=a.jsonl real=b.jsonl; figures of research codes are looked up under it. Later records of a case replace
earlier ones; a case that failed or was not checked is named and makes the exit code 1.

Columns: time of ours and of the vendor's (its best algorithm), speed-up with its 95 % interval ("level" if that
includes 1; of pairs where both were measured in turn), nonzeros per second, share of the
gather mark (time of the mark over ours: above 1 is faster than gathering every row once), time of the mark, speed-up
at it (the vendor's time over the mark's, or over ours where that is less: what is left to win without more reuse),
share of the bandwidth limit (time in which A, B and C pass memory once, over ours), lead over the best
research code (speed-up over that code's own speed-up against the same vendor).
"""
import argparse
import collections
import json
import pathlib
import sys

import tables

RESEARCH = pathlib.Path(__file__).resolve().parent / "spmm_gpu_research.tsv"


def read_research(path):
    return {(row["set"], row["matrix"], int(row["dense_cols"])):
            {key: None if row[key] == "-" else (row[key] if key == "code_name" else float(row[key]))
             for key in ("cusparse", "code", "code_name", "gather_mark")}
            for row in tables.read_tsv(path)[1]}


def name_of(record):
    stem = pathlib.Path(record["matrix"]).stem
    return stem + "-T" if record["case"].get("transpose") else stem


def collect(sets, kernels):
    """{(set, matrix, K, caches, value kind): {kernel: record}}, and sentences about what failed."""
    cases = collections.defaultdict(dict)
    for label, path in sets:
        for record in tables.read_records(path):
            case = record.get("case", {})
            if case.get("kernel") in kernels:
                key = (label, name_of(record), case["dense_cols"], case["caches"], case["value_kind"])
                cases[key][case["kernel"]] = record
    problems = []
    for key, by_kernel in cases.items():
        for kernel, record in list(by_kernel.items()):
            checked = record.get("role") == "mark" or (record.get("check") or {}).get("passed")
            if record["status"] != "done" or not checked:
                reason = record.get("reason") or "not checked"
                problems.append(f"{'/'.join(map(str, key))} {kernel}: {reason}")
                del by_kernel[kernel]
    return cases, problems


def rows_of(cases, options, research):
    for (label, matrix, dense_cols, caches, kind), by_kernel in cases.items():
        if options.ours not in by_kernel or options.vendor not in by_kernel:
            continue
        ours, vendor = by_kernel[options.ours], by_kernel[options.vendor]
        seconds = ours["median_seconds"]
        speed = tables.speed_up(vendor, ours)
        marks = {name: by_kernel[name]["median_seconds"] for name in options.marks if name in by_kernel}
        mark = min(marks.values(), default=None)
        flops = ours["cost"]["flops"]
        row = {
            "set": label, "matrix": matrix, "nnz": ours["nnz"], "dense_cols": dense_cols,
            "caches": caches, "value_kind": kind, "kernel": ours["choice"] or options.ours,
            "kernel_run": ours.get("kernel_run") or options.ours,
            "bytes_a_nonzero": ours["cost"]["stored_bytes"] / ours["nnz"] if ours["cost"].get("stored_bytes") else None,
            "seconds": seconds, "spread": ours["spread"], "vendor_seconds": vendor["median_seconds"],
            "vendor_algorithm": vendor["choice"], "speedup": speed[0], "speedup_interval": speed,
            "nnz_per_second": ours["nnz"] / seconds, "gflops": flops / seconds / 1e9,
            "vendor_gflops": flops / vendor["median_seconds"] / 1e9,
            "mark_seconds": mark, "share_of_mark": mark / seconds if mark else None,
            "speedup_at_mark": vendor["median_seconds"] / min(mark, seconds) if mark else None,
            "mark_gflops": flops / mark / 1e9 if mark else None,
            "share_of_bandwidth_limit":
                ours["cost"]["minimum_bytes"] / (options.copy_bytes_per_second * seconds),
            "analysis_seconds": ours["phases"]["analysis_seconds"],
            "code_name": None, "code_speedup": None, "lead_over_code": None, "mark_against_known": None}
        code = research.get((label, matrix, dense_cols)) if caches == "warm" else None
        if code and code["code"]:
            row["code_name"] = code["code_name"]
            row["code_speedup"] = code["code"] / code["cusparse"]
            row["lead_over_code"] = row["speedup"] / row["code_speedup"]
        if code and code["gather_mark"] and mark:
            row["mark_against_known"] = row["mark_gflops"] / code["gather_mark"]
        yield row


def means_of(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        for cols in (row["dense_cols"], "all"):
            groups[row["set"], row["value_kind"], row["caches"], cols].append(row)
    for (label, kind, caches, cols), group in groups.items():
        yield {"set": label, "value_kind": kind, "caches": caches, "dense_cols": cols,
               "cases": len(group), "speedup": tables.geometric_mean(r["speedup"] for r in group),
               "lowest_speedup": min(r["speedup"] for r in group),
               "lowest_at": min(group, key=lambda r: r["speedup"])["matrix"],
               "level": sum(tables.is_level(r["speedup_interval"]) for r in group),
               "lost": sum(r["speedup"] < 1 and not tables.is_level(r["speedup_interval"]) for r in group),
               "share_of_mark": tables.geometric_mean(r["share_of_mark"] for r in group),
               "mark_speedup": tables.geometric_mean(r["vendor_seconds"] / r["mark_seconds"] for r in group
                                       if r["mark_seconds"]),
               "code_speedup": tables.geometric_mean(r["code_speedup"] for r in group),
               "behind_code": sum(1 for r in group if r["lead_over_code"] and r["lead_over_code"] < 1)}


def cell(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def name_of_row(row, kinds):
    name = row["matrix"] + (" (stand-in)" if row["set"].startswith("stand-in") else "")
    return name + (f" {row['value_kind']}" if len(kinds) > 1 else "")


def cells_of(row, kinds):
    """The texts of a case, by the heading that they have in a table and in docs/results."""
    lead = cell(row["lead_over_code"]) + (f" {row['code_name']}" if row["code_name"] else "")
    return {"matrix": name_of_row(row, kinds), "set": row["set"], "caches": row["caches"],
            "value kind": row["value_kind"], "kernel": row["kernel_run"].rpartition(".")[2],
            "bytes a nonzero": cell(row["bytes_a_nonzero"]),
            "nnz": f"{row['nnz']:,}", "K": str(row["dense_cols"]), "csrkit s": f"{row['seconds']:.4g}",
            "cuSPARSE s": f"{row['vendor_seconds']:.4g}", "speed-up": cell(row["speedup"]),
            "interval": tables.interval_cell(row["speedup_interval"]),
            "Gnnz/s": f"{row['nnz_per_second'] / 1e9:.3g}", "share of the gather mark": cell(row["share_of_mark"]),
            "gather mark s": f"{row['mark_seconds']:.4g}" if row["mark_seconds"] else "-",
            "speed-up at the mark": cell(row["speedup_at_mark"]),
            "share of the bandwidth limit": cell(row["share_of_bandwidth_limit"]), "lead on the best research code": lead}


def data_rows(sets, operation="spmm"):
    """The rows of docs/results for records by set: [(label, path)]. A failed case is an error."""
    options = parser_of().parse_args(["records", "--ours", f"gpu.{operation}.auto",
                                      "--vendor", f"gpu.{operation}.vendor_cusparse"])
    cases, problems = collect(sets, {options.ours, options.vendor, *options.marks})
    if problems:
        raise SystemExit("\n".join(problems))
    rows = list(rows_of(cases, options, read_research(options.research)))
    kinds = {row["value_kind"] for row in rows}
    return [cells_of(row, kinds) for row in rows]


def markdown(rows, means):
    kinds = {row["value_kind"] for row in rows}
    text = tables.markdown(
        ["set", "caches", "K", "cases", "speed-up", "lowest", "at", "level", "lost", "mark's speed-up", "share of mark",
         "best research code", "behind it"],
        [[mean["set"] if len(kinds) == 1 else f"{mean['set']} {mean['value_kind']}", mean["caches"],
          str(mean["dense_cols"]), str(mean["cases"]), cell(mean["speedup"]), cell(mean["lowest_speedup"]),
          mean["lowest_at"], str(mean["level"]), str(mean["lost"]), cell(mean["mark_speedup"]), cell(mean["share_of_mark"]),
          cell(mean["code_speedup"]), str(mean["behind_code"])] for mean in means])
    for caches in sorted({row["caches"] for row in rows}, reverse=True):
        cells = []
        for row in rows:
            if row["caches"] == caches:
                texts = cells_of(row, kinds)
                for heading in ("set", "caches", "value kind", "kernel", "bytes a nonzero"):
                    del texts[heading]
                if row["speedup"] < 1:
                    texts["speed-up"] = f"**{texts['speed-up']}**"
                cells.append(texts)
        text += f"\nCaches {caches}:\n\n" + tables.markdown(list(cells[0]), [list(row.values()) for row in cells])
    return text


def parser_of():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", metavar="[SET=]RECORDS.jsonl[.gz]")
    parser.add_argument("--ours", default="gpu.spmm.auto", metavar="KERNEL")
    parser.add_argument("--vendor", default="gpu.spmm.vendor_cusparse", metavar="KERNEL")
    parser.add_argument("--marks", default="gpu.spmm.gather_mark,gpu.spmm.gather_mark_sliced",
                        type=lambda text: [name for name in text.split(",") if name], metavar="LIST")
    parser.add_argument("--research", type=pathlib.Path, default=RESEARCH)
    parser.add_argument("--copy-bytes-per-second", type=float, default=4.27e12,
                        help="bytes read and written per second by a copy (default: an H200's)")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    tables.add_force(parser)
    return parser


def main():
    parser = parser_of()
    options = parser.parse_args()
    tables.require_new(parser, options, options.json, options.markdown)
    sets = []
    for text in options.records:
        label, equals, path = text.rpartition("=")
        sets.append((label if equals else "all", pathlib.Path(path)))
    cases, problems = collect(sets, {options.ours, options.vendor, *options.marks})
    rows = list(rows_of(cases, options, read_research(options.research)))
    if not rows:
        raise SystemExit(f"no case has both {options.ours} and {options.vendor}")
    means = list(means_of(rows))
    text = markdown(rows, means)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "means": means}, indent=1) + "\n",
                                encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    for problem in problems:
        print(f"spmm_gpu_table.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
