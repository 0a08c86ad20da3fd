#!/usr/bin/env python3
"""Compares how reordering changed SpMM times with how the locality report said that it would.

Usage: forecast_table.py --machine MACHINE.json --records RECORDS.jsonl BEFORE.csr AFTER.csr ...

MACHINE.json is of csr-probe, RECORDS.jsonl of csr-bench on the same machine, over all the files. Files
come in pairs, the matrix before and after. Prints Markdown: microseconds as measured and as forecast,
the change of both, and how far the forecast change is from the measured one. csr-info has to be on
the PATH.
"""
import argparse
import json
import pathlib
import subprocess

import tables


def forecasts(path, machine, device, widths):
    command = ["csr-info", str(path), "--locality", "--machine", str(machine), "--json",
               "-k", ",".join(map(str, widths))]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {row["dense_cols"]: row["seconds"] for row in report["locality"]["forecasts"]
            if row["device"] == device}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", type=pathlib.Path, required=True)
    parser.add_argument("--records", type=pathlib.Path, required=True)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="gpu")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if len(options.files) % 2 != 0:
        parser.error("files come in pairs: before, after")

    kernel = f"{options.device}.spmm.auto"
    measured = {}
    for record in tables.read_records(options.records):
        if record["status"] == "done" and record["case"]["kernel"] == kernel:
            measured[record["matrix"], record["dense_cols"]] = record["median_seconds"]

    off, rows = [], []
    for before, after in zip(options.files[::2], options.files[1::2]):
        widths = sorted({k for name, k in measured if name == before.name})
        said = [forecasts(path, options.machine, options.device, widths)
                for path in (before, after)]
        for k in widths:
            was = [measured[path.name, k] for path in (before, after)]
            change, foretold = was[0] / was[1], said[0][k] / said[1][k]
            off.append(abs(foretold / change - 1))
            rows.append([f"{before.stem}, {after.stem}", str(k), f"{was[0] * 1e6:.1f} -> {was[1] * 1e6:.1f}",
                         f"{said[0][k] * 1e6:.1f} -> {said[1][k] * 1e6:.1f}", f"{change:.2f}", f"{foretold:.2f}",
                         f"{100 * (foretold / change - 1):+.0f} %"])
    print(tables.markdown(["before, after", "K", "measured us", "forecast us", "measured change", "forecast change",
                           "off"], rows), end="")
    within = sum(error <= 0.15 for error in off)
    print(f"\n{within} of {len(off)} changes within 15 %, the furthest {100 * max(off):.0f} % off.")


if __name__ == "__main__":
    main()
