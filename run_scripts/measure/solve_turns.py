#!/usr/bin/env python3
"""Times solvers on a GPU against the vendor's loop, all of a system in turn, round after round.

Usage: solve_turns.py --records OUT.jsonl [--tools DIR] [--sparse LIST] [--refined LIST] [--dense LIST] [--rounds N]

--sparse and --refined name grids: a number is a square of so many points a side, anything else a name of
csr-generate --like. --sparse times iterations in f64; --refined whole solves of systems of known solution, f64 against
f32 inside of f64, to the same true residual; --dense iterations in f32 with matrices of so many rows. A record per
run, as solve_table.py reads them.
"""
import argparse
import datetime
import pathlib
import re
import subprocess
import sys
import tempfile

import solving

VENDOR = ["--kernel", "vendor_cublas", "--nondeterministic"]
SPARSE = {"csrkit": [], "csrkit, plain CSR": ["--kernel", "streamed"], "csrkit, sell": ["--product", "sell"], "cuSPARSE + cuBLAS": VENDOR}
DENSE = {"csrkit": [], "cuBLAS symv": [*VENDOR, "--product", "vendor_symv_atomics"],
         "cuBLAS gemv": [*VENDOR, "--product", "vendor_gemv"]}
REFINED = {"f64": ["--precision", "f64"], "refined": ["--precision", "refined"]}


def dense_iterations(rows):
    """About 30 ms of them, if half of A is read at 4 TB/s."""
    return max(100, min(1500, round(30e-3 / (rows * rows * 2 / 4e12 + 10e-6))))


def gpu_name(tool):
    said = subprocess.run([tool, "--generate-dense", "4", "--verbose"], capture_output=True, text=True, check=False).stderr
    if not (found := re.search(r"runs on (.+)", said)):
        raise SystemExit(f"{tool} finds no GPU: {said.strip()}")
    return found.group(1)


class Turns:
    def __init__(self, options):
        self.options = options
        self.tool = options.tools / "csr-solve-gpu"
        version = solving.run([self.tool, "--version"])
        self.machine = {"gpu": {"name": gpu_name(self.tool)}, "commit": re.search(r"^commit: (\S+)", version, re.M).group(1)}

    def grid(self, name, folder):
        path = folder / f"{name}.csr"
        what = ["poisson", path, "--set", f"nx={name}"] if name.isdigit() else ["--like", name, path]
        solving.run([self.options.tools / "csr-generate", *what, "--value-kind", "f64", "--force", "--quiet"])
        return path

    def note(self, kind, system, who, round_of, report):
        now = datetime.datetime.now(datetime.timezone.utc)
        known = ("rows", "nnz", "precision", "iterations", "samples_seconds", "median_seconds", "phases", "choice")
        record = {"case": {"operation": "solve", "kernel": report["kernel"]}, "kind": kind, "matrix": system, "who": who,
                  "round": round_of, "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "machine": self.machine,
                  **{name: report[name] for name in known if name in report},
                  "run": report.get("kernel_run", ""), "true_norm": report["columns"][0]["true_norm"],
                  "rhs_norm": report["columns"][0]["rhs_norm"]}
        solving.append(self.options.records, record)
        microseconds = 1e6 * report["median_seconds"] / report["iterations"]
        print(f"{kind} {system}, {who}: {microseconds:.2f} us an iteration, {report['iterations']} of them", flush=True)

    def time_iterations(self, kind, system, arguments, solvers, iterations):
        for round_of in range(self.options.rounds):
            for who, how in solvers.items():
                self.note(kind, system, who, round_of, solving.solve(self.tool, [*arguments, *how], iterations, 3))

    def time_solves(self, system, path):
        for round_of in range(self.options.rounds):
            for who, how in REFINED.items():
                self.note("refined", system, who, round_of, solving.report_of(
                    self.tool, [path, *how, "--rhs", "from-solution", "--tolerance", "1e-10", "--repeat", 3]))

    def run(self, folder):
        for name in self.options.sparse + [name for name in self.options.refined if name not in self.options.sparse]:
            path = self.grid(name, folder)
            if name in self.options.sparse:
                self.time_iterations("sparse", name, [path], SPARSE, 400)
            if name in self.options.refined:
                self.time_solves(name, path)
            path.unlink()
        for rows in map(int, self.options.dense):
            self.time_iterations("dense", str(rows), ["--generate-dense", rows, "--precision", "f32"], DENSE,
                                 dense_iterations(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="solve_turns.py --records OUT.jsonl [options]")
    names = {"type": lambda text: [name for name in text.split(",") if name], "metavar": "LIST"}
    parser.add_argument("--records", type=pathlib.Path, required=True, metavar="OUT.jsonl")
    parser.add_argument("--tools", type=pathlib.Path, default="build/gpu/tools", metavar="DIR")
    parser.add_argument("--sparse", default="300,poisson2d_1k,poisson3d_100,poisson2d_2k,poisson3d_160", **names)
    parser.add_argument("--refined", default="300,poisson2d_1k,poisson3d_100", **names)
    parser.add_argument("--dense", default=",".join(str(128 << i) for i in range(9)), **names)
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Turns(options).run(pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
