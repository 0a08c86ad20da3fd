#!/usr/bin/env python3
"""C = A A (A A^T if A is not square) by the GPU kernel and by the CPU kernel: are the two the same?

Usage: spgemm_gpu_vs_cpu.py FILE ... --tools FOLDER [--scratch FOLDER] [--value-kinds f64,f32] [--seed 1]

FILE is anything that csr-import reads; FOLDER of --tools holds csr-import, csr-info, csr-spgemm-cpu and
csr-spgemm-gpu. Values of A are random numbers of f32, so they are the same in both kinds. The CPU's product is
made in f64. Row offsets and columns have to be equal; the difference of two values may be as large as both
bounds of core/judge/compare.h allow together: gamma(n + 3) sum |a b|, n being the entries in the row of A, with the
roundoff of the kind for the GPU and of f64 for the CPU. The sums of |a b| are a third product, of |A|.
The exit code is 1 if any product differs, 77 if NumPy is not installed.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit(0)
    print(f"spgemm_gpu_vs_cpu.py: NumPy is not installed for {sys.executable} ({error}); install it (Debian: "
          "python3-numpy), or run the script with a Python that has it", file=sys.stderr)
    sys.exit(77)

ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24}
TINY = {"f64": 2.0**-1074, "f32": 2.0**-149}
CHUNK = 1 << 24  # entries that are compared at once


def read_csr(tools, path):
    """(row_offsets, col_indices, values, shape), mapped from the file."""
    snippet = subprocess.run([tools / "csr-info", path, "--python"], capture_output=True, text=True, check=True)
    names = {}
    exec(snippet.stdout, names)  # assignments of np.memmap, written by csr-info
    return names["row_offsets"], names["col_indices"], names["values"], names["shape"]


def write_magnitudes(tools, path, matrix):
    """The .csr file of |A|."""
    row_offsets, col_indices, values, shape = matrix
    raw = path.with_suffix(".raw")
    with raw.open("wb") as file:
        np.array([*shape, len(col_indices)], np.int64).tofile(file)
        row_offsets.astype(np.int32).tofile(file)
        col_indices.tofile(file)
        np.abs(values).astype(np.float32).tofile(file)
    subprocess.run([tools / "csr-import", raw, path, "--format", "raw-csr", "--value-kind", "f32", "--force", "--quiet"],
                   check=True)
    raw.unlink()


def multiply(tools, device, matrix, kind, output, more):
    subprocess.run([tools / f"csr-spgemm-{device}", matrix, "--value-kind", kind, "--repeat", "1", "--warmup", "0",
                    "--output", output, "--force", "--quiet", *more], check=True)


def gamma(terms, roundoff):
    product = terms * roundoff
    return product / (1 - product)


def compare(gpu, cpu, magnitudes, row_lengths, kind):
    """(entries of C, the largest difference over its bound, what is wrong)."""
    if gpu[3] != cpu[3] or not np.array_equal(gpu[0], cpu[0]):
        return len(gpu[1]), float("nan"), "rows have other lengths"
    worst, entries = 0.0, len(cpu[1])
    terms = row_lengths + 3.0
    factors = gamma(terms, ROUNDOFF[kind]) + gamma(terms, ROUNDOFF["f64"])
    lengths = np.diff(cpu[0])
    edges = np.searchsorted(cpu[0], np.arange(CHUNK, entries, CHUNK))
    for first, last in zip([0, *edges], [*edges, len(lengths)]):
        begin, end = int(cpu[0][first]), int(cpu[0][last])
        part = slice(begin, end)
        if not np.array_equal(gpu[1][part], cpu[1][part]):
            return entries, worst, f"columns differ in rows {first} to {last}"
        bound = np.repeat(factors[first:last], lengths[first:last]) * magnitudes[2][part]
        bound += np.repeat(terms[first:last], lengths[first:last]) * TINY[kind]
        ratio = np.abs(gpu[2][part].astype(np.float64) - cpu[2][part]) / bound
        largest = float(ratio.max(initial=0.0))
        if not largest <= 1:
            return entries, largest, f"values differ in rows {first} to {last}"
        worst = max(worst, largest)
    return entries, worst, ""


def check(options, file, scratch):
    """Rows of the table, and whether all were the same."""
    tools, good = options.tools, True
    a_path, magnitudes_path = scratch / "a.csr", scratch / "abs.csr"
    subprocess.run([tools / "csr-import", file, a_path, "--values", "random", "--value-kind", "f32", "--seed",
                    str(options.seed), "--force", "--quiet"], check=True)
    a = read_csr(tools, a_path)
    more = [] if a[3][0] == a[3][1] else ["--transpose-b"]
    write_magnitudes(tools, magnitudes_path, a)
    multiply(tools, "cpu", a_path, "f64", scratch / "cpu.csr", more)
    multiply(tools, "cpu", magnitudes_path, "f64", scratch / "abs_c.csr", more)
    cpu, magnitudes = read_csr(tools, scratch / "cpu.csr"), read_csr(tools, scratch / "abs_c.csr")
    for kind in options.value_kinds.split(","):
        multiply(tools, "gpu", a_path, kind, scratch / "gpu.csr", more)
        entries, worst, wrong = compare(read_csr(tools, scratch / "gpu.csr"), cpu, magnitudes,
                                        np.diff(a[0]).astype(np.float64), kind)
        name = pathlib.Path(file).name.split(".")[0] + (" (A A^T)" if more else "")
        print(f"| {name} | {kind} | {entries:,} | {wrong or 'the same'} | {worst:.3f} |", flush=True)
        good = good and not wrong
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", type=pathlib.Path, help="where products are written (default: a temporary folder)")
    parser.add_argument("--value-kinds", default="f64,f32")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    print("| matrix | kind | entries of C | against the CPU's | largest difference over its bound |")
    print("|---|---|---:|---|---:|", flush=True)
    good = True
    for file in options.files:
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            try:
                good = check(options, file, pathlib.Path(scratch)) and good
            except subprocess.CalledProcessError as failure:
                good = False
                print(f"{file}: {json.dumps([str(part) for part in failure.cmd])} ended with {failure.returncode}",
                      file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
