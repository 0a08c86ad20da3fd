"""R9: the memory that csr-forecast predicts for a run, and the memory that the run takes."""
import json
import os
import subprocess

from common import Finding

# A child counts the memory of this program until it starts the tool: smaller runs look larger than they are.
SMALLEST = 48 << 20
METHODS = ("degree", "rcm", "community", "random", "row-similarity", "metis-partition", "metis-nested-dissection")
FORMATS = ("mtx", "mtx.gz", "npz", "tsv", "petsc")


def peak_of(soak, command):
    process = subprocess.Popen([str(word) for word in command], cwd=soak.scratch, env=soak.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise Finding(f"status {status} of {command}: {said[-300:]!r}")
    return usage.ru_maxrss * 1024


def some(soak, *choices):
    return list(soak.chance.choice(choices))


def large(soak):
    return soak.chance.randrange(15, 18)


def small(soak):
    """Of a sparse product, which grows faster than the matrix."""
    return soak.chance.randrange(13, 15)


# Each makes (options of csr-forecast, the command that is forecast, the scale of the matrix).


def spmm(soak):
    words = ["-k", str(soak.chance.choice((64, 100, 256, 400)))]
    words += some(soak, [], ["--transpose"], ["--value-kind", "f64"])
    return words, ["csr-spmm-cpu", "g.csr", *words, "--repeat", "1"], large(soak)


def spmv(soak):
    words = some(soak, [], ["--value-kind", "f64"])
    return ["--operation", "spmv", *words], ["csr-spmv-cpu", "g.csr", *words, "--repeat", "3"], large(soak)


def spgemm(soak):
    words = some(soak, [], ["--transpose"])
    run = ["csr-spgemm-cpu", "g.csr", *("--transpose-b" for _ in words), "--repeat", "2"]
    return ["--operation", "spgemm", *words], run, small(soak)


def bench(soak):
    kernels = soak.chance.choice(("cpu.auto", "cpu.auto,cpu.row_loop", "cpu.auto,cpu.naive,cpu.nnz_balanced",
                                  "cpu.spmm.auto,cpu.spmv.auto"))
    words = ["--kernels", kernels, "-k", soak.chance.choice(("32", "8,128", "200"))]
    words += some(soak, [], ["--value-kind", "f64"], ["--cold"])
    return ["--tool", "csr-bench", *words], ["csr-bench", "g.csr", *words, "--repeat", "3"], large(soak)


def bench_spgemm(soak):
    words = ["--kernels", soak.chance.choice(("cpu.spgemm.auto", "cpu.spgemm.auto,cpu.spgemm.hash_rows"))]
    return ["--tool", "csr-bench", *words], ["csr-bench", "g.csr", *words, "--repeat", "2"], small(soak)


def reorder(soak):
    words = ["--method", soak.chance.choice(METHODS)]
    return ["--tool", "csr-reorder", *words], ["csr-reorder", "g.csr", "o.csr", "--force", *words], large(soak)


def convert(soak):
    ending = soak.chance.choice(FORMATS)
    kind = ["--value-kind", "f64"] if ending == "petsc" else []  # PETSc has no other values
    return ["--tool", "csr-import", *kind], ["csr-import", "text." + ending, "o.csr", "--force"], large(soak)


def report(soak):
    return ["--tool", "csr-report"], [soak.root / "tools" / "csr-report", "r.jsonl", "-o", "page.html", "--force"], large(soak)


KINDS = (spmm, spmv, spgemm, bench, bench_spgemm, reorder, convert, report)


def prepare(soak, kind, run, scale):
    """The matrix, and what else the run reads."""
    soak.succeed(["csr-generate", "rmat", "g.csr", "--set", f"scale={scale}", "--seed", soak.round,
                  "--value-kind", soak.chance.choice(("none", "f32", "f64")), "--force", "--quiet"])
    if kind is convert:
        soak.succeed(["csr-export", "g.csr", run[1], "--lossy", "--force", "--quiet"])
    if kind is report:
        (soak.scratch / "r.jsonl").unlink(missing_ok=True)
        soak.succeed(["csr-bench", "g.csr", "-k", "4,8", "--kernels", "cpu.auto,cpu.row_loop", "--repeat", "9", "--records",
                      "r.jsonl", "--quiet"])


def one_run(soak, kind):
    """(forecast, peak, what ran)"""
    words, run, scale = kind(soak)
    prepare(soak, kind, run, scale)
    said = json.loads(soak.succeed(["csr-forecast", "g.csr", *words, "--json"]))
    expected = max(row["host_peak_bytes"] for row in said["forecasts"])
    return expected, peak_of(soak, [*run, "--quiet"]), f"{' '.join(str(word) for word in run)}, scale {scale}"


def forecasts(soak):
    """Never below the real peak, and within a quarter of it in 9 of 10 runs."""
    seen, near = soak.recall("seen", 0), soak.recall("near", 0)
    while soak.has_time():
        kind = KINDS[(soak.round + soak.counts.get("runs", 0)) % len(KINDS)]
        expected, real, what = one_run(soak, kind)
        soak.count("runs")
        soak.count(kind.__name__)
        if real < SMALLEST:
            soak.count("too_small")
            continue
        if real > expected:
            raise Finding(f"{what} took {real} bytes, forecast {expected}")
        seen += 1
        near += expected <= 1.25 * real
        soak.keep("seen", seen)
        soak.keep("near", near)
        soak.counts["within_a_quarter"] = f"{near} of {seen}"
    if seen >= 20 and near < 0.9 * seen:
        raise Finding(f"only {near} of {seen} forecasts are within a quarter")


def parts(_build):
    return {"R9.forecasts": ("memory forecasts of seven tools against real peaks", forecasts)}
