#!/usr/bin/env python3
"""Draws the time of a product over the number of its dense columns, as SVG.

Usage: plot_widths.py OUT.svg NAME=RECORDS.jsonl[.gz] ... [--title TEXT] [--force]

A picture for every NAME, a line in it for every matrix of its records: those of csr-bench, of which the least sample
counts, because a busy machine adds to the others, or those of studies/spmm_choices (matrix, k, and auto in
microseconds). Of several records of a width the fastest counts. A dot is a multiple of 8.
"""
import argparse
import collections
import gzip
import html
import json
import pathlib
import sys

import tables
from plot_speedup import COLOURS, STYLE

LEFT, WIDTH, HEIGHT, GAP, TOP = 70, 620, 150, 62, 40


def read_times(path):
    """{matrix: {columns: microseconds}}"""
    times = collections.defaultdict(dict)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                if record.get("status", "done") != "done":
                    continue
                is_short = "k" in record
                cols = record["k"] if is_short else record["case"]["dense_cols"]
                microseconds = float(record["auto"]) if is_short else 1e6 * record["min_seconds"]
                of = times[pathlib.Path(record["matrix"]).stem]
                of[cols] = min(of.get(cols, microseconds), microseconds)
            except (ValueError, KeyError, TypeError) as error:
                raise SystemExit(f"{path}:{number}: not a record of a product with a number of columns: {error}")
    if not times:
        raise SystemExit(f"{path}: no records")
    return times


def round_step(most):
    """A step of 1, 2 or 5 times a power of ten, of which at most five fit."""
    power = 10 ** (len(str(int(most))) - 2)
    return next(step * power for step in (1, 2, 5, 10, 20, 50) if most <= 5 * step * power)


def picture_of(name, times, widest, top):
    def text(x, y, words, kind):
        return f'<text x="{x:g}" y="{y:g}" class="{kind}">{html.escape(words)}</text>'

    most = max(max(of.values()) for of in times.values())
    across, up, bottom = WIDTH / widest, HEIGHT / most, top + HEIGHT
    out = [text(LEFT, top - 8, f"{name}, microseconds", "title")]
    step = round_step(most)
    for k in range(int(most / step) + 1):
        y = bottom - k * step * up
        out += [f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDTH}" class="grid"/>', text(LEFT - 6, y + 4, f"{k * step:g}", "name")]
    for k in range(0, widest + 1, 64):
        out.append(text(LEFT + k * across, bottom + 15, str(k), "tick"))
    for i, (matrix, of) in enumerate(times.items()):
        colour = COLOURS[i % len(COLOURS)]
        places = {k: f"{LEFT + k * across:.1f} {bottom - of[k] * up:.1f}" for k in sorted(of)}
        out.append(f'<path d="M{" L".join(places.values())}" fill="none" stroke="{colour}"><title>'
                   f"{html.escape(matrix)}</title></path>")
        dots = "".join(f"M{place}h0" for k, place in places.items() if k % 8 == 0)
        out.append(f'<path d="{dots}" fill="none" stroke="{colour}" stroke-width="3.5" stroke-linecap="round"/>')
        out += [f'<rect x="{LEFT + 10}" y="{top + 4 + 16 * i}" width="10" height="10" fill="{colour}"/>',
                text(LEFT + 25, top + 13 + 16 * i, matrix, "series")]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("records", nargs="+", metavar="NAME=RECORDS")
    parser.add_argument("--title", default="")
    tables.add_force(parser)
    options = parser.parse_args()
    tables.require_new(parser, options, options.picture)
    given = [entry.partition("=") for entry in options.records]
    for name, equals, path in given:
        if not (name and equals and path):
            parser.error(f"'{name}{equals}{path}' is not of the form NAME=RECORDS")
    all_times = [(name, read_times(pathlib.Path(path))) for name, _, path in given]
    widest = max(k for _, times in all_times for of in times.values() for k in of)
    height = TOP + len(given) * (HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
           f'width="{LEFT + WIDTH + 20}" height="{height}" role="img">', f"<title>{html.escape(options.title)}</title>",
           STYLE, f'<text x="10" y="16" class="title">{html.escape(options.title)}</text>']
    for i, (name, times) in enumerate(all_times):
        out += picture_of(name, times, widest, TOP + 20 + i * (HEIGHT + GAP))
    options.picture.write_text("\n".join(out + ["</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
