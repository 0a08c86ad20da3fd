#!/usr/bin/env python3
"""Draws bars of speed against a rival from the records of csr-bench, as SVG.

Usage: plot_speedup.py RECORDS.jsonl OUT.svg --kernel gpu.spmm.auto --against gpu.spmm.vendor_cusparse

Exit code 77: Matplotlib is not installed.
"""
import argparse
import collections
import json
import pathlib
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    print(f"plot_speedup.py: Matplotlib is not installed for {sys.executable} ({error}); install it (Debian: "
          "python3-matplotlib), or run the script with a Python that has it", file=sys.stderr)
    sys.exit(77)

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"]  # Okabe and Ito: safe for the colour-blind


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--against", required=True)
    parser.add_argument("--title", default="")
    options = parser.parse_args()

    seconds, files = collections.defaultdict(dict), {}
    for number, line in enumerate(options.records.read_text().splitlines(), 1):
        record = json.loads(line)
        if record["status"] == "done":
            case = record["case"]
            name = pathlib.Path(record["matrix"]).stem
            file = files.setdefault((name, case["dense_cols"], case["kernel"]), record["matrix"])
            if file != record["matrix"]:
                raise SystemExit(f"{options.records}:{number}: {record['matrix']} would have the bar of {file}; measure "
                                 "one of them under another name")
            seconds[name, case["dense_cols"]][case["kernel"]] = record["median_seconds"]
    speed = {key: by[options.against] / by[options.kernel] for key, by in seconds.items()
             if options.kernel in by and options.against in by}
    names = list(dict.fromkeys(name for name, _ in speed))
    widths = sorted({k for _, k in speed})

    figure, axes = plt.subplots(figsize=(10, 0.9 + 0.34 * len(names)))
    height = 0.8 / len(widths)
    for i, k in enumerate(widths):
        positions = [row - 0.4 + height * (i + 0.5) for row in range(len(names))]
        axes.barh(positions, [speed.get((name, k), 0) for name in names], height,
                  color=COLOURS[i % len(COLOURS)], label=f"K = {k}")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(f"speed of {options.kernel} (times that of {options.against}, median)")
    axes.set_title(options.title)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.05), ncol=len(widths), frameon=False)
    figure.tight_layout()
    figure.savefig(options.picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
