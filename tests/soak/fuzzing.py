"""R1: no parser crashes, hangs or swells. Coverage-guided, with sanitizers, from kept seeds."""
import json
import subprocess

from common import Finding, NotHere, Stopped

TEXTS = {
    "csr": "a .csr file, its checksums made right again",
    "ranks": "a .csr file's pieces for ranks, its checksums made right again",
    "npy": "a dense operand",
    "mtx": "Matrix Market text",
    "compressed": "Matrix Market, compressed",
    "edges": "an edge list",
    "metis": "a METIS graph",
    "npz": "a NumPy archive",
    "tar": "a SuiteSparse archive",
    "raw-csr": "raw arrays",
    "gapbs": "a graph of the GAP Benchmark Suite",
    "galois": "a graph of Galois",
    "petsc": "a binary matrix of PETSc",
    "smtx": "a text of the Deep Learning Matrix Collection",
    "zip": "a zip archive with a matrix in it",
    "ogb": "a folder of the Open Graph Benchmark",
    "detect": "a file of unknown format",
    "records": "records of csr-bench",
    "json": "any JSON: tuning caches, operands of tools",
    "provenance": "what travels in a .csr file",
    "profile": "a machine profile",
    "plan": "a saved plan, its digest made right again",
}
# Seeds that are elsewhere in the repository, beside tests/soak/seeds/PARSER.
OTHER_SEEDS = {
    "csr": ("tests/data/golden/*.csr", "tests/data/invalid/*.csr"),
    "ranks": ("tests/data/golden/rank_parts_*.csr", "tests/data/golden/split_rows_*.csr",
              "tests/data/golden/all_sections_*.csr", "tests/data/golden/five*.csr"),
    "mtx": ("tests/data/import/*/*.mtx",),
    "detect": ("tests/soak/seeds/*/*",),
    "records": ("tests/data/records/*.jsonl",),
    "json": ("tests/soak/seeds/p*/*.json", "tests/data/records/*.jsonl"),
}
MOST_SEED_BYTES = 65536
MOST_KEPT = 400  # inputs of earlier rounds that a round begins with


def fuzz(soak, parser):
    program = soak.build / "tests" / "soak" / "fuzz_parsers"
    if not program.exists():
        raise NotHere("fuzz_parsers was not built")
    patterns = (f"tests/soak/seeds/{parser}/*", *OTHER_SEEDS.get(parser, ()))
    seeds = [path for pattern in patterns for path in sorted(soak.root.glob(pattern))
             if path.stat().st_size <= MOST_SEED_BYTES]
    kept = soak.state / "corpus"
    kept.mkdir(exist_ok=True)
    earlier = sorted(kept.iterdir(), key=lambda path: path.stat().st_mtime)[-MOST_KEPT:]
    command = [program, parser, str(soak.seconds), str(soak.round), soak.scratch, kept, *seeds, *earlier]
    environment = dict(soak.environment, OMP_NUM_THREADS="1",
                       ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=1",
                       UBSAN_OPTIONS="print_stacktrace=1")
    process = subprocess.Popen(command, cwd=soak.scratch, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, said = process.communicate(timeout=soak.seconds + 120)
    except Stopped:
        process.kill()
        process.communicate()
        raise
    except subprocess.TimeoutExpired as late:
        process.kill()
        process.communicate()
        raise Finding("the fuzzer itself hangs") from late
    if process.returncode != 0:
        current = soak.scratch / "current"
        where = soak.keep_file(current) if current.exists() else "no input"
        raise Finding(f"code {process.returncode}, input {where}: {said[-1500:].decode(errors='replace')}")
    counts = json.loads(out.splitlines()[-1])
    for name in ("runs", "taken", "edges"):
        soak.counts[name] = counts[name]
    names = sorted(kept.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in names[:-4 * MOST_KEPT]:
        path.unlink()


def parts(_build):
    return {f"R1.{name}": (f"fuzzing of {text}", lambda soak, name=name: fuzz(soak, name)) for name, text in TEXTS.items()}
