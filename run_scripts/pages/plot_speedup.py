#!/usr/bin/env python3
"""Draws bars of speed against a vendor from the records of csr-bench, as SVG.

Usage: plot_speedup.py RECORDS.jsonl[.gz] OUT.svg --kernel gpu.spmm.auto --against gpu.spmm.vendor_cusparse [--force]

One group per matrix, one bar per number of dense columns. The pictures of docs come from kept data by
results_pages.py, which calls bars_of.
"""
import argparse
import collections
import html
import pathlib
import sys

import tables

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"]  # Okabe and Ito: safe for the colour-blind
BAR, GAP, LEFT, WIDTH, TOP = 4, 6, 190, 560, 46
STYLE = """<style>
  text { font: 12px sans-serif; fill: #222 } .name { text-anchor: end } .tick { text-anchor: middle; font-size: 11px }
  .grid { stroke: #bbb; stroke-dasharray: 2 3 } .level { stroke: #222 }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #555 } .level { stroke: #ddd } }
</style>"""


def bars_of(speed, title, label):
    """SVG of {(group, series): number}: groups from top to bottom in their order, a line at 1."""
    groups, series = (list(dict.fromkeys(key[i] for key in speed)) for i in (0, 1))
    height = TOP + len(groups) * (len(series) * BAR + GAP)
    most = max(1.0, *speed.values())
    scale = WIDTH / most

    def text(x, y, words, kind):
        return f'<text x="{x:g}" y="{y:g}" class="{kind}">{html.escape(words)}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height + 40}" '
           f'width="{LEFT + WIDTH + 20}" height="{height + 40}" role="img">',
           f"<title>{html.escape(title)}</title>", STYLE, text(10, 16, title, "title")]
    for i, name in enumerate(series):
        out += [f'<rect x="{LEFT + 90 * i}" y="26" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>',
                text(LEFT + 90 * i + 15, 35, str(name), "series")]
    tick = 0.5 if most < 5 else 1.0 if most < 12 else 5.0
    for k in range(int(most / tick) + 1):
        x = LEFT + k * tick * scale
        out += [f'<path d="M{x:g} {TOP}V{height}" class="{"level" if k * tick == 1 else "grid"}"/>',
                text(x, height + 14, f"{k * tick:g}", "tick")]
    out.append(text(LEFT + WIDTH / 2, height + 32, label, "tick"))
    for row, group in enumerate(groups):
        y = TOP + row * (len(series) * BAR + GAP) + GAP / 2
        out.append(text(LEFT - 8, y + len(series) * BAR / 2 + 4, group, "name"))
        for i, name in enumerate(series):
            if (group, name) in speed:
                value = speed[group, name]
                out.append(f'<rect x="{LEFT}" y="{y + i * BAR:g}" width="{value * scale:.1f}" height="{BAR - 1}" '
                           f'fill="{COLOURS[i % len(COLOURS)]}"><title>{html.escape(group)}, {name}: {value:.2f}'
                           "</title></rect>")
    return "\n".join(out + ["</svg>", ""])


def speed_of(path, kernel, against):
    """{(matrix, "K = ..."): how many times as fast `kernel` is as `against`} of the records."""
    seconds, files = collections.defaultdict(dict), {}
    for number, record in enumerate(tables.read_records(path), 1):
        if record["status"] == "done":
            case = record["case"]
            name = pathlib.Path(record["matrix"]).stem
            file = files.setdefault((name, case["dense_cols"], case["kernel"]), record["matrix"])
            if file != record["matrix"]:
                raise SystemExit(f"{path}:{number}: {record['matrix']} would have the bar of {file}; measure "
                                 "one of them under another name")
            seconds[name, case["dense_cols"]][case["kernel"]] = record["median_seconds"]
    return {(name, f"K = {cols}"): by[against] / by[kernel] for (name, cols), by in seconds.items()
            if kernel in by and against in by}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--against", required=True)
    parser.add_argument("--title", default="")
    tables.add_force(parser)
    options = parser.parse_args()
    tables.require_new(parser, options, options.picture)
    speed = speed_of(options.records, options.kernel, options.against)
    if not speed:
        raise SystemExit(f"{options.records}: no case has both {options.kernel} and {options.against}")
    options.picture.write_text(bars_of(speed, options.title, f"speed of {options.kernel}, times that of "
                                       f"{options.against}, median"), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
