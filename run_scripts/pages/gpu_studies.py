#!/usr/bin/env python3
"""Tables and pictures of the studies of GPU kernels, from the records that they print.

Usage: gpu_studies.py lanes|tiles|sorts RECORDS.jsonl[.gz] [--widths 32,256] [--picture OUT.svg] [--force]

lanes and tiles are of spmm_lanes_measure: GFLOP/s over columns per lane, and over nonzeros of A in shared
memory where a lane has as many columns as a row has for it. sorts is of parallel_sorts_measure_gpu: million keys
per second. Prints the rows of a data file of docs/results; the median of the samples counts. A picture needs
Matplotlib (exit code 77 without).
"""
import argparse
import pathlib
import statistics
import sys

import tables

LANES, TILES = (1, 2, 4, 8), (0, 8, 16, 32, 64, 128, 256)


def rates_of(path, keys, work):
    """{values of the keys: millions a second}, in the order of the records."""
    rates = {}
    for number, record in enumerate(tables.read_records(path), 1):
        try:
            rates[tuple(record[key] for key in keys)] = work(record) / statistics.median(record["seconds"])
        except (KeyError, TypeError, statistics.StatisticsError) as error:
            raise SystemExit(f"{path}:{number}: not a record with {', '.join(keys)} and seconds: {error}")
    if not rates:
        raise SystemExit(f"{path}: no records")
    return rates


def spmm_rates(path):
    return rates_of(path, ("matrix", "k", "mapping", "per_lane", "tile"),
                    lambda record: 2e-9 * record["nnz"] * record["k"])


def cell(rate):
    return "-" if rate is None else f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def print_rows(heading, rows):
    for row in (heading, *rows):
        print("\t".join(row))


def cases_of(rates, widths):
    return [case for case in dict.fromkeys(key[:2] for key in rates) if case[1] in widths]


def columns_of_rung(k):
    return min(max(k // 32, 1), max(LANES))


def print_lanes(rates, widths):
    variants = {"one": ("strided", 1, 0), **{f"strided {n}": ("strided", n, 0) for n in LANES[1:]},
                **{f"adjacent {n}": ("adjacent", n, 0) for n in LANES[1:]},
                "v5_vector_loads": ("vectors", 4, 32), "auto": ("auto", 0, 0)}
    print_rows(["matrix", "K", *variants],
               [[matrix, str(k), *(cell(rates.get((matrix, k, *variant))) for variant in variants.values())]
                for matrix, k in cases_of(rates, widths)])


def tile_rate(rates, matrix, k, tile):
    return rates.get((matrix, k, "tiled" if tile else "strided", columns_of_rung(k), tile))


def print_tiles(rates, widths):
    print_rows(["matrix", "K", "columns a lane", "none", *(str(tile) for tile in TILES[1:])],
               [[matrix, str(k), str(columns_of_rung(k)), *(cell(tile_rate(rates, matrix, k, tile)) for tile in TILES)]
                for matrix, k in cases_of(rates, widths)])


def sort_rates(path):
    return rates_of(path, ("size", "distribution", "sort"), lambda record: 1e-6 * record["size"])


def print_sorts(rates, _):
    sorts = list(dict.fromkeys(key[2] for key in rates))
    print_rows(["keys", "distribution", *sorts],
               [[f"{size:,}", distribution.replace("_", " "), *(cell(rates.get((size, distribution, sort))) for sort in sorts)]
                for size, distribution in dict.fromkeys(key[:2] for key in rates)])


def draw_spmm(plt, rates):
    matrices = list(dict.fromkeys(key[0] for key in rates))
    widths = sorted({key[1] for key in rates})
    figure, axes = plt.subplots(2, len(matrices), figsize=(3 * len(matrices), 6), squeeze=False, sharey="col",
                                layout="constrained")
    for column, matrix in enumerate(matrices):
        lanes, tiles = axes[0][column], axes[1][column]
        for number, k in enumerate(widths):
            for mapping, style in (("strided", "-"), ("adjacent", ":")):
                points = [(n, rates[matrix, k, mapping, n, 0]) for n in LANES if (matrix, k, mapping, n, 0) in rates]
                lanes.plot(*zip(*points), style, color=f"C{number}", marker="o", markersize=3, linewidth=1,
                           label=f"K = {k}" if mapping == "strided" else None)
            rows = [(at, tile_rate(rates, matrix, k, tile)) for at, tile in enumerate(TILES)]
            tiles.plot(*zip(*(row for row in rows if row[1] is not None)), color=f"C{number}", marker="o", markersize=3,
                       linewidth=1)
        lanes.set_title(matrix, fontsize=9)
        lanes.set_xscale("log", base=2)
        lanes.set_xticks(LANES, [str(n) for n in LANES])
        lanes.set_xlabel("columns a lane (dotted: side by side)", fontsize=7)
        tiles.set_xticks(range(len(TILES)), [str(tile) if tile else "none" for tile in TILES], fontsize=7)
        tiles.set_xlabel("nonzeros of A in shared memory", fontsize=7)
        for picture in (lanes, tiles):
            picture.set_ylim(bottom=0)
    for row in axes:
        row[0].set_ylabel("GFLOP/s")
    axes[0][0].legend(fontsize=7)
    return figure


def draw_sorts(plt, rates):
    sizes = sorted({key[0] for key in rates})
    figure, axes = plt.subplots(1, len(sizes), figsize=(4.2 * len(sizes), 3.6), squeeze=False)
    for picture, size in zip(axes[0], sizes):
        distributions = list(dict.fromkeys(key[1] for key in rates if key[0] == size))
        for number, sort in enumerate(dict.fromkeys(key[2] for key in rates)):
            points = [(rates[size, d, sort], at) for at, d in enumerate(distributions) if (size, d, sort) in rates]
            if points:
                picture.plot(*zip(*points), "o", color=f"C{number}", markersize=5, label=sort)
        picture.set_yticks(range(len(distributions)), [d.replace("_", " ") for d in distributions], fontsize=7)
        picture.invert_yaxis()
        picture.set_xscale("log")
        picture.set_title(f"{size:,} keys", fontsize=9)
        picture.set_xlabel("million keys per second", fontsize=8)
        picture.grid(axis="y", linewidth=0.3)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=7, fontsize=7)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    return figure


STUDIES = {"lanes": (spmm_rates, print_lanes, draw_spmm), "tiles": (spmm_rates, print_tiles, draw_spmm),
           "sorts": (sort_rates, print_sorts, draw_sorts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("--widths", default=[32, 256], type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--picture", type=pathlib.Path)
    tables.add_force(parser)
    options = parser.parse_args()
    tables.require_new(parser, options, options.picture)
    read, show, draw = STUDIES[options.study]
    rates = read(options.records)
    show(rates, options.widths)
    if not options.picture:
        return
    try:
        import matplotlib
    except ImportError as error:
        print(f"gpu_studies.py: Matplotlib is not installed for {sys.executable} ({error}); install it (Debian: "
              "python3-matplotlib), or run the script with a Python that has it", file=sys.stderr)
        sys.exit(77)
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "csrkit", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt
    figure = draw(plt, rates)
    figure.savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
