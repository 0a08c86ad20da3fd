#!/usr/bin/env python3
"""Time per iteration of conjugate gradients over the size of the system: one thread, all threads, a GPU.

Usage: solve_sizes.py --out DIR [--tools DIR] [--system dense|grid] [--sizes LIST] [--precision f32|f64]
                      [--threads N] [--iterations N] [--repeat N] [--without-gpu]

dense: random matrices. grid: the 5-point Laplace operator on a square of about so many points. Writes
DIR/records.jsonl (what is there is not measured again), DIR/times.svg (log-log; dashed: with preparation and
transfers) and DIR/speedup.svg, and says from which size the GPU pays. Exit code 77: Matplotlib is not installed.
"""
import argparse
import math
import os
import pathlib
import sys
import tempfile

import solving

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit(0)
    print(f"solve_sizes.py: Matplotlib is not installed for {sys.executable} ({error}); install it (Debian: "
          "python3-matplotlib), or run the script with a Python that has it", file=sys.stderr)
    sys.exit(77)

SIZES = ",".join(str(128 << i) for i in range(9))  # to 32,768


def measure(options, rows, who, folder):
    """Seconds per iteration, of the iterations alone and with preparation and transfers."""
    tool = options.tools / ("csr-solve-gpu" if who == "GPU" else "csr-solve-cpu")
    if options.system == "dense":
        arguments = ["--generate-dense", rows]
    else:
        side = max(1, round(math.sqrt(rows)))
        matrix = folder / f"{rows}.csr"
        if not matrix.exists():
            solving.run([options.tools / "csr-generate", "poisson", matrix, "--set", f"nx={side}",
                         "--value-kind", options.precision, "--quiet"])
        arguments = [matrix]
    if who != "GPU":
        arguments += ["--threads", 1 if who == "one thread" else options.threads]
    report = solving.solve(tool, [*arguments, "--precision", options.precision], options.iterations, options.repeat)
    around = sum(report["phases"].values()) / report["iterations"]
    return {"system": options.system, "rows": rows, "who": who, "precision": options.precision,
            "iterations": report["iterations"], "iteration_seconds": report["iteration_seconds"],
            "whole_seconds": report["iteration_seconds"] + around}


def draw(path, lines, label):
    """lines: {(who, dashed): {rows: number}}"""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    colours = {who: f"C{i}" for i, who in enumerate(dict.fromkeys(who for who, _ in lines))}
    for (who, dashed), points in lines.items():
        axes.plot(list(points), list(points.values()), color=colours[who], marker="o", markersize=4,
                  linestyle="--" if dashed else "-",
                  label=who + (", with preparation and transfers" if dashed else ""))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, bbox_inches="tight")


def first_that_pays(records, key):
    """The least size from which the GPU is faster than all threads, and stays so."""
    def times(who):
        return {record["rows"]: record[key] for record in records if record["who"] == who}
    ours, theirs = times("GPU"), times("all threads")
    pays = None
    for rows in sorted(set(ours) & set(theirs), reverse=True):
        if ours[rows] >= theirs[rows]:
            break
        pays = rows
    return pays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="solve_sizes.py --out DIR [options]")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--tools", type=pathlib.Path, default="build/gpu/tools", metavar="DIR")
    parser.add_argument("--system", choices=("dense", "grid"), default="dense")
    parser.add_argument("--sizes", default=SIZES, metavar="LIST", help="rows")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--iterations", type=int, default=200, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--without-gpu", action="store_true")
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "records.jsonl"
    have = {(record["system"], record["rows"], record["who"], record["precision"])
            for record in solving.records_of(path)}
    people = ["one thread", "all threads"] + ([] if options.without_gpu else ["GPU"])
    with tempfile.TemporaryDirectory() as folder:
        for rows in map(int, options.sizes.split(",")):
            for who in people:
                if (options.system, rows, who, options.precision) not in have:
                    solving.append(path, measure(options, rows, who, pathlib.Path(folder)))

    records = [record for record in solving.records_of(path)
               if (record["system"], record["precision"]) == (options.system, options.precision)]
    records.sort(key=lambda record: record["rows"])
    times, base = {}, {}
    for record in records:
        times.setdefault((record["who"], False), {})[record["rows"]] = record["iteration_seconds"]
        if record["who"] == "GPU":
            times.setdefault(("GPU", True), {})[record["rows"]] = record["whole_seconds"]
        if record["who"] == "one thread":
            base[record["rows"]] = record["iteration_seconds"]
    ups = {line: {rows: base[rows] / seconds for rows, seconds in points.items() if rows in base}
           for line, points in times.items() if line[0] != "one thread"}
    draw(options.out / "times.svg", times, "seconds per iteration")
    draw(options.out / "speedup.svg", ups, "speed-up over one thread")
    if not options.without_gpu:
        for key, what in (("iteration_seconds", "iterations alone"),
                          ("whole_seconds", f"{options.iterations} iterations, preparation and transfers")):
            rows = first_that_pays(records, key)
            print(f"{what}: the GPU pays " + (f"from {rows} rows on" if rows else "at none of these sizes"))


if __name__ == "__main__":
    sys.exit(main())
