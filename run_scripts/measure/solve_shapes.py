#!/usr/bin/env python3
"""Searches the shapes of tiles of a dense product on a GPU: an iteration's time per shape and matrix size.

Usage: solve_shapes.py --records OUT.jsonl [--tools DIR] [--sizes LIST] [--product NAME] [--shapes LIST]
                       [--precision f32|f64] [--iterations N] [--repeat N]

A record per size and shape, as plot_shapes.py draws them: solve_shapes.py --records shapes.jsonl &&
plot_shapes.py shapes.jsonl shapes.svg. Records that are there already are not measured again.
"""
import argparse
import pathlib
import sys

import solving

SHAPES = "32x128,32x256,64x128,64x256,128x256,128x512"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="solve_shapes.py --records OUT.jsonl [options]")
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="OUT.jsonl")
    parser.add_argument("--tools", type=pathlib.Path, default="build/gpu/tools", metavar="DIR")
    parser.add_argument("--sizes", default="1024,2048,4096,8192,16384", metavar="LIST", help="rows")
    parser.add_argument("--product", default="half", metavar="NAME")
    parser.add_argument("--shapes", default=SHAPES, metavar="LIST", help="rows of a tile x threads of a block")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--iterations", type=int, default=400, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    options = parser.parse_args()

    known = solving.records_of(options.records)
    have = {(record["matrix"], record["tile"], record["block"]) for record in known}
    for rows in options.sizes.split(","):
        for shape in options.shapes.split(","):
            tile, threads = (int(number) for number in shape.split("x"))
            name = f"{rows} rows, {options.precision}"
            if (name, tile, threads) in have:
                continue
            report = solving.solve(options.tools / "csr-solve-gpu", [
                "--generate-dense", rows, "--precision", options.precision, "--kernel", "fused", "--product",
                f"{options.product}:{shape}"], options.iterations, options.repeat)
            per_iteration = [seconds / report["iterations"] for seconds in report["samples_seconds"]]
            solving.append(options.records, {"matrix": name, "product": options.product, "tile": tile,
                                             "block": threads, "seconds": per_iteration})
            print(f"{name}, {shape}: {1e6 * min(per_iteration):.1f} us")


if __name__ == "__main__":
    sys.exit(main())
