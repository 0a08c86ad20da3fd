#!/usr/bin/env python3
"""Draws a search over two kernel parameters: a heat map and the time over each of them, as SVG.

Usage: plot_shapes.py RECORDS.jsonl OUT.svg [--x block] [--y tile] [--by kernel] [--title TEXT] [--force]

A record is a JSON object per line with "matrix", the two parameters and "seconds", a list of runs; the
median counts. One row of pictures per matrix; with --by it has one heat map for each value of that key, and nothing
else. Exit code 77: Matplotlib is not installed.
"""
import argparse
import collections
import json
import pathlib
import statistics
import sys

import tables

try:
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "csrkit", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit(0)
    print(f"plot_shapes.py: Matplotlib is not installed for {sys.executable} ({error}); install it (Debian: "
          "python3-matplotlib), or run the script with a Python that has it", file=sys.stderr)
    sys.exit(77)


def read_medians(path, x, y, by):
    """{matrix: {value of `by`, or "": {(x, y): milliseconds}}}"""
    medians = collections.defaultdict(lambda: collections.defaultdict(dict))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            record = json.loads(line)
            where = pathlib.Path(record["matrix"]).stem
            medians[where][record[by] if by else ""][record[x], record[y]] = 1e3 * statistics.median(record["seconds"])
        except (ValueError, KeyError) as error:
            raise SystemExit(f"{path}:{number}: not a record with matrix, {x}, {y} and seconds: {error}")
    if not medians:
        raise SystemExit(f"{path}: no records")
    return medians


def draw_map(axes, by_shape, xs, ys):
    table = [[by_shape.get((x, y), float("nan")) for x in xs] for y in ys]
    image = axes.imshow(table, origin="lower", aspect="auto", cmap="viridis_r",
                        norm=matplotlib.colors.LogNorm())
    best = min(by_shape.values())
    for row, line in enumerate(table):
        for column, value in enumerate(line):
            if value == value:
                axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=7,
                          color="red" if value == best else "white" if image.norm(value) > 0.5 else "black")
    axes.set_xticks(range(len(xs)), xs)
    axes.set_yticks(range(len(ys)), ys)
    return image


def draw_lines(axes, by_shape, over, others, key):
    for other in others:
        points = [(at, by_shape[key(at, other)]) for at in over if key(at, other) in by_shape]
        axes.plot(*zip(*points), marker="o", markersize=3, linewidth=1, label=str(other))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(over, [str(at) for at in over])
    axes.minorticks_off()


def draw_lines_of(pictures, by_shape, xs, ys, options):
    draw_lines(pictures[0], by_shape, xs, ys, lambda at, other: (at, other))
    pictures[0].set_xlabel(options.x)
    pictures[0].legend(title=options.y, fontsize=6, title_fontsize=7)
    draw_lines(pictures[1], by_shape, ys, xs, lambda at, other: (other, at))
    pictures[1].set_xlabel(options.y)
    pictures[1].legend(title=options.x, fontsize=6, title_fontsize=7)
    for picture in pictures:
        picture.set_ylabel("median ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--x", default="block")
    parser.add_argument("--y", default="tile")
    parser.add_argument("--by", default="")
    parser.add_argument("--title", default="")
    tables.add_force(parser)
    options = parser.parse_args()
    tables.require_new(parser, options, options.picture)

    medians = read_medians(options.records, options.x, options.y, options.by)
    groups = list(dict.fromkeys(group for by_group in medians.values() for group in by_group))
    columns = len(groups) if options.by else 3
    figure, axes = plt.subplots(len(medians), columns, figsize=(4.3 * columns, 3.4 * len(medians)), squeeze=False)
    for row, (matrix, by_group) in zip(axes, medians.items()):
        shapes = [shape for by_shape in by_group.values() for shape in by_shape]
        xs, ys = (sorted({shape[i] for shape in shapes}) for i in (0, 1))
        for picture, group in zip(row, groups):
            image = draw_map(picture, by_group[group], xs, ys)
            if not group:
                figure.colorbar(image, ax=picture, label="ms")
            picture.set_title(f"{matrix}{chr(10) if group else ''}{group}: median ms, the best in red", fontsize=8)
            picture.set_xlabel(options.x)
            picture.set_ylabel(options.y)
        if not options.by:
            draw_lines_of(row[1:], by_group[""], xs, ys, options)
    figure.suptitle(options.title, fontsize=10)
    figure.tight_layout()
    figure.savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
