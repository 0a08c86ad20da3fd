"""What the parts of the soak share: how they end, and the commands they attack."""
import dataclasses
import json
import pathlib
import shutil
import sys


class Finding(Exception):
    """A promise was broken."""


class NotHere(Exception):
    """The part cannot run on this machine; the text says what is missing."""


class Stopped(BaseException):
    """SIGINT or SIGTERM: the record says how far the part came."""


@dataclasses.dataclass
class Case:
    """A command that writes, and what must be in its outputs."""
    name: str
    command: list
    outputs: list
    has_fixed_bytes: bool = True  # else only the form is known: JSON lines
    grows: bool = False  # what was there before stays in front
    is_python: bool = False
    other_codes: tuple = ()  # that are also right when memory or threads are short


CASES = (
    Case("import", ["csr-import", "g.mtx", "out.csr"], ["out.csr"]),
    Case("import-gzip", ["csr-import", "g.mtx.gz", "out.csr"], ["out.csr"]),
    Case("import-npz", ["csr-import", "g.npz", "out.csr"], ["out.csr"]),
    Case("import-edges", ["csr-import", "g.edges", "out.csr", "--format", "edge-list"], ["out.csr"]),
    Case("export-mtx", ["csr-export", "g.csr", "out.mtx"], ["out.mtx"]),
    Case("export-gzip", ["csr-export", "g.csr", "out.mtx.gz"], ["out.mtx.gz"]),
    Case("export-npz", ["csr-export", "g.csr", "out.npz"], ["out.npz"]),
    Case("generate", ["csr-generate", "rmat", "out.csr", "--set", "scale=7"], ["out.csr"]),
    Case("reorder", ["csr-reorder", "g.csr", "out.csr", "--method", "degree"], ["out.csr"], False),
    Case("reorder-rcm", ["csr-reorder", "g.csr", "out.csr", "--method", "rcm"], ["out.csr"], False),
    Case("reorder-community", ["csr-reorder", "g.csr", "out.csr", "--method", "community"], ["out.csr"], False),
    Case("spmm", ["csr-spmm-cpu", "g.csr", "-k", "3", "--repeat", "1", "--warmup", "0", "--check", "--output", "out.npy"],
         ["out.npy"]),
    Case("spgemm", ["csr-spgemm-cpu", "g.csr", "--repeat", "1", "--warmup", "0", "--check", "--output", "out.csr"],
         ["out.csr"], False),
    Case("sddmm", ["csr-sddmm-cpu", "g.csr", "-k", "3", "--repeat", "1", "--warmup", "0", "--check", "--output", "out.csr"],
         ["out.csr"], False),
    Case("sddmm-values", ["csr-sddmm-cpu", "g.csr", "-k", "3", "--repeat", "1", "--warmup", "0", "--output", "out.npy"],
         ["out.npy"]),
    Case("solve", ["csr-solve-cpu", "s.csr", "--output", "out.npy"], ["out.npy"]),
    Case("partition", ["csr-partition", "g.csr", "out.csr", "--parts", "2,4", "--method", "stream"], ["out.csr"], False),
    Case("spmm-ranks", ["csr-spmm-dist", "p.csr", "--ranks", "2", "-k", "3", "--repeat", "1", "--warmup", "0", "--check",
                        "--output", "out.npy"], ["out.npy"]),
    Case("spgemm-ranks", ["csr-spgemm-dist", "g.csr", "--ranks", "2", "--repeat", "1", "--warmup", "0", "--check",
                          "--output", "out.csr"], ["out.csr"], False),
    Case("spgemm-parts", ["csr-spgemm-dist", "p.csr", "--ranks", "2", "--repeat", "1", "--warmup", "0", "--check",
                          "--output", "out.csr"], ["out.csr"], False),
    Case("picture", ["csr-info", "g.csr", "--spy", "out.png"], ["out.png"]),
    Case("tune", ["csr-spmm-cpu", "g.csr", "-k", "2", "--repeat", "1", "--tune", "out.json"], ["out.json"], False),
    Case("records", ["csr-bench", "g.csr", "-k", "2", "--repeat", "1", "--warmup", "0", "--records", "out.jsonl"],
         ["out.jsonl"], False, True, other_codes=(1,)),  # the case is recorded as failed, with the reason
    Case("report", ["csr-report", "seed.jsonl", "--no-html", "--markdown", "out.md", "--csv", "out.csv"],
         ["out.md", "out.csv"], is_python=True),
)


def make_inputs(soak):
    """The files that CASES read, in the scratch folder. Some are odd on purpose: empty rows, a hub."""
    soak.succeed(["csr-generate", "rmat", "g.csr", "--set", "scale=6", "--force", "--quiet"])
    soak.succeed(["csr-partition", "g.csr", "p.csr", "--parts", "2", "--method", "blocks", "--force", "--quiet"])
    soak.succeed(["csr-generate", "poisson", "s.csr", "--set", "nx=8", "--set", "ny=8", "--value-kind", "f64", "--force", "--quiet"])
    for name in ("g.mtx", "g.mtx.gz", "g.npz"):
        soak.succeed(["csr-export", "g.csr", name, "--force", "--quiet"])
    soak.succeed(["csr-export", "g.csr", "g.edges", "--format", "edge-list", "--lossy", "--force", "--quiet"])
    soak.succeed(["csr-bench", "g.csr", "-k", "2", "--repeat", "1", "--warmup", "0", "--records", "seed.jsonl", "--quiet"])


def words_of(soak, case):
    """The command with its options: outputs that exist are replaced, unless they grow. A script is started by Python
    itself, so that only the calls of Python are counted."""
    words = case.command[1:] + ([] if case.grows else ["--force"]) + ["--quiet"]
    if case.is_python:
        return [sys.executable, str(soak.tools / case.command[0]), *words]
    return [case.command[0], *words]


def remove_outputs(soak):
    for path in soak.scratch.glob("out.*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def left_overs(soak):
    return [path.name for path in soak.scratch.iterdir() if ".tmp." in path.name]


def expected_outputs(soak, case):
    """What an undisturbed run writes."""
    remove_outputs(soak)
    soak.succeed(words_of(soak, case))
    return {name: (soak.scratch / name).read_bytes() for name in case.outputs}


def is_complete(soak, case, name, expected):
    """Whether an output is whole: the same bytes, or a file that its reader accepts."""
    path = soak.scratch / name
    if case.has_fixed_bytes:
        return path.read_bytes() == expected[name]
    if name.endswith(".csr"):
        return soak.run(["csr-info", path, "--verify", "--quiet"])[0] == 0
    try:
        text = path.read_text(encoding="utf-8")
        for document in text.splitlines() if name.endswith(".jsonl") else [text]:
            json.loads(document)
    except ValueError:
        return False
    return pathlib.Path(path).stat().st_size > 0
