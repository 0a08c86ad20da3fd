#!/usr/bin/env python3
"""The table of import speed in docs/results/epyc2/files.md.

Matrix Market text of three kinds is read by csr-import, with one thread and with all, and by SciPy and
fast_matrix_market where this Python has them. The best of three runs counts: a shared machine only
ever adds time.
"""
import argparse
import json
import os
import pathlib
import subprocess
import time


def run(*command, threads=None):
    environment = dict(os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {}))
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout


def best_of_three(work):
    """The smallest result of `work`, which returns numbers, the first of which decides."""
    return min((work() for _ in range(3)), key=lambda result: result[0])


def timed(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin,)


def make_texts(tools, folder, nodes):
    """Writes one random pattern as pattern, integer and real .mtx and yields (kind, path)."""
    for kind, value_kind in (("pattern", "none"), ("real", "f32")):
        matrix = folder / f"{kind}.csr"
        run(tools / "csr-generate", "erdos-renyi", matrix, "--set", f"rows={nodes}", "--set",
            f"cols={nodes}", "--set", f"nnz={16 * nodes}", "--value-kind", value_kind, "--force")
        run(tools / "csr-export", matrix, folder / f"{kind}.mtx", "--force")
        matrix.unlink()
    with open(folder / "pattern.mtx") as source, open(folder / "integer.mtx", "w") as target:
        header, size = next(source), next(source)
        while size.startswith("%"):
            size = next(source)
        target.write(header.replace("pattern", "integer") + size)
        for number, line in enumerate(source):
            target.write(f"{line.rstrip()} {number % 1000 - 500}\n")
    return [(kind, folder / f"{kind}.mtx") for kind in ("pattern", "integer", "real")]


def readers():
    """(name, function of a path) for every reader this Python has."""
    found = []
    try:
        import scipy
        import scipy.io
        found.append((f"scipy {scipy.__version__}", scipy.io.mmread))
    except ImportError:
        pass
    try:
        import fast_matrix_market as fmm
        for threads in sorted({1, os.cpu_count()}):
            found.append((f"fast_matrix_market {fmm.__version__}, {threads} thr.",
                          lambda path, threads=threads: fmm.mmread(path, parallelism=threads)))
    except ImportError:
        pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=pathlib.Path, default="build/release/tools")
    parser.add_argument("--work-dir", type=pathlib.Path, default="build/import-speed")
    parser.add_argument("--nodes", type=int, default=500_000, help="rows; 16 nonzeros in each")
    parser.add_argument("--dry-run", action="store_true", help="a tiny matrix: does everything run?")
    options = parser.parse_args()
    options.work_dir.mkdir(parents=True, exist_ok=True)

    print(f"{'matrix':9} {'reader':34} {'text MB':>9} {'parse s':>9} {'MB/s':>7} {'whole s':>9}")
    for kind, path in make_texts(options.tools, options.work_dir, 1000 if options.dry_run else options.nodes):
        megabytes = path.stat().st_size / 1e6
        output = options.work_dir / "out.csr"

        def row(reader, parse_seconds, whole_seconds=None):
            whole = "" if whole_seconds is None else f"{whole_seconds:9.3f}"
            print(f"{kind:9} {reader:34} {megabytes:9.1f} {parse_seconds:9.3f} "
                  f"{megabytes / parse_seconds:7.0f} {whole}", flush=True)

        for threads in sorted({1, os.cpu_count()}):
            def ours():
                begin = time.perf_counter()
                report = json.loads(run(options.tools / "csr-import", path, output, "--force", "--json", threads=threads))
                return report["read_seconds"], time.perf_counter() - begin
            row(f"csr-import, {threads} thr.", *best_of_three(ours))
        for name, read in readers():
            row(name, *best_of_three(lambda: timed(lambda: read(path))))
        path.unlink()
        output.unlink()


if __name__ == "__main__":
    main()
