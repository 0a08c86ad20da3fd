"""R10, R13, R16: the same bits every time, nothing lost on the way, sizes beyond 2^31."""
import json
import os
import shutil

from common import Finding, NotHere

# Rows, columns and widths of B: 2^31 - 1, 2^31, 2^31 + 1 and 2^31 + 4633 entries, 2^32 products and more.
LARGE = ((1, 2147483647, ()), (32768, 65536, (1, 2)), (3, 715827883, ()), (46341, 46341, (1, 3)))


def same_bits(soak):
    """Every kernel that does not need --nondeterministic: any number of threads, any time."""
    kernels = json.loads(soak.succeed(["csr-spmm-cpu", "--list", "--json"]))
    names = [row["kernel"].rsplit(".", 1)[-1] for row in kernels["rows"]]
    while soak.has_time():
        pattern = soak.chance.choice((["rmat", "--set", "scale=9"], ["dense", "--set", "rows=40"],
                                      ["poisson", "--set", "nx=30", "--set", "contrast=9"]))
        soak.succeed(["csr-generate", pattern[0], "g.csr", *pattern[1:], "--seed", soak.chance.randrange(1000), "--force",
                      "--quiet"])
        for tool, extra, output in (("csr-spmm-cpu", ["-k", soak.chance.choice((1, 3, 8, 17, 32))], "c.npy"),
                                    ("csr-spgemm-cpu", [], "c.csr")):
            kernel = soak.chance.choice(names) if tool == "csr-spmm-cpu" else "auto"
            seen = set()
            for _ in range(10):
                threads = soak.chance.randrange(1, 9)
                code, _, said = soak.run([tool, "g.csr", *extra, "--kernel", kernel, "--threads", threads, "--repeat", "1",
                                          "--warmup", "0", "--output", output, "--force", "--quiet"])
                if code == 2:
                    break  # the kernel cannot do this matrix, or needs --nondeterministic
                if code != 0:
                    raise Finding(f"code {code} of {tool} {kernel}: {said[-300:]!r}")
                if output == "c.npy":
                    seen.add((soak.scratch / output).read_bytes())
                else:
                    soak.succeed(["csr-export", "c.csr", "c.mtx", "--force", "--quiet"])
                    seen.add((soak.scratch / "c.mtx").read_bytes())
                soak.count("products")
            if len(seen) > 1:
                raise Finding(f"{len(seen)} different results of {tool} --kernel {kernel}")


PATTERNS = (["rmat", "scale=6"], ["dense", "rows=30"], ["poisson", "nx=9", "ny=7"], ["banded", "n=50"], ["arrow", "n=40"],
            ["erdos-renyi", "rows=40", "cols=90", "nnz=200"], ["erdos-renyi", "rows=7", "nnz=0"], ["communities", "n=200"])


def seed_for(soak, pattern, kind):
    """--seed N, where csr-generate has something to draw."""
    draws = pattern in ("rmat", "erdos-renyi", "communities") or (pattern != "poisson" and kind != "none")
    return ("--seed", soak.chance.randrange(10000)) if draws else ()


def conversions(soak):
    """csr -> any -> csr is the identity for every format that need not lose anything."""
    while soak.has_time():
        pattern, *settings = soak.chance.choice(PATTERNS)
        kind = soak.chance.choice(("none", "f32", "f64"))
        soak.succeed(["csr-generate", pattern, "g.csr", *(word for setting in settings for word in ("--set", setting)),
                      "--value-kind", kind, *seed_for(soak, pattern, kind), "--force", "--quiet"])
        for name in ("copy.mtx", "copy.mtx.gz", "copy.npz"):
            soak.succeed(["csr-export", "g.csr", name, "--force", "--quiet"])
            soak.succeed(["csr-import", name, "copy.csr", "--value-kind", kind, "--force", "--quiet"])
            soak.succeed(["csr-export", "copy.csr", "again.mtx", "--force", "--quiet"])
            soak.succeed(["csr-export", "g.csr", "once.mtx", "--force", "--quiet"])
            if (soak.scratch / "once.mtx").read_bytes() != (soak.scratch / "again.mtx").read_bytes():
                raise Finding(f"{pattern} of {kind} came back different from {name}")
            soak.count("round_trips")


def partitioned(soak):
    """A random matrix and a partition of it for 2 and 4 or for 3 and 6 ranks, in p.csr; its numbers of parts."""
    pattern, *settings = soak.chance.choice(PATTERNS + (["rmat", "scale=9"], ["communities", "n=900", "mean=9"]))
    kind = soak.chance.choice(("none", "f32", "f64"))
    soak.succeed(["csr-generate", pattern, "g.csr", *(word for setting in settings for word in ("--set", setting)),
                  "--value-kind", kind, *seed_for(soak, pattern, kind), "--force", "--quiet"])
    numbers = soak.chance.choice(((2, 4), (3, 6)))
    code, _, said = soak.run(["csr-partition", "g.csr", "p.csr", "--parts", ",".join(map(str, numbers)), "--method",
                              soak.chance.choice(("blocks", "stream", "community")), "--force", "--quiet"])
    if code != 0:
        raise Finding(f"code {code} of csr-partition: {said[-300:]!r}")
    return numbers


def rank_bits(soak):
    """Products on ranks: right, the same bits every time, and the bytes that csr-forecast says; sparse ones as on one."""
    while soak.has_time():
        for parts in partitioned(soak):
            groups, width = soak.chance.choice((1, 1, 2)), soak.chance.choice((2, 5, 16, 33))
            ranks = parts * groups
            said = json.loads(soak.succeed(["csr-forecast", "p.csr", "--ranks", ranks, "-k", width, "--json"]))["grids"]
            grid = next(row for row in said if row["row_parts"] == parts)
            seen = set()
            for _ in range(2):
                record = json.loads(soak.succeed(
                    ["csr-spmm-dist", "p.csr", "--ranks", ranks, "--grid", f"{parts}x{groups}", "-k", width, "--threads",
                     soak.chance.randrange(1, 4), "--repeat", "1", "--warmup", "0", "--check", "--output", "c.npy", "--force",
                     "--json"]))
                seen.add((soak.scratch / "c.npy").read_bytes())
                moved = record["bytes"]
                if (moved["total"], moved["worst_rank"]) != (grid["moved_bytes"], grid["worst_received_bytes"]):
                    raise Finding(f"a grid of {parts}x{groups} moved {moved}, forecast were {grid}")
                soak.count("products")
            if len(seen) > 1:
                raise Finding(f"a grid of {parts}x{groups} made {len(seen)} different results")
            sparse_product_on_ranks(soak, parts)


def sparse_product_on_ranks(soak, ranks):
    header = json.loads(soak.succeed(["csr-info", "p.csr", "--header-only", "--json"]))
    if header["rows"] != header["cols"]:
        return
    soak.succeed(["csr-spgemm-cpu", "p.csr", "--repeat", "1", "--warmup", "0", "--output", "whole.csr", "--force", "--quiet"])
    soak.succeed(["csr-export", "whole.csr", "whole.mtx", "--force", "--quiet"])
    said = json.loads(soak.succeed(["csr-forecast", "p.csr", "--operation", "spgemm", "--ranks", ranks, "--json"]))["blocks"]
    for row in said:
        record = json.loads(soak.succeed(["csr-spgemm-dist", "p.csr", "--ranks", ranks, "--blocks", row["blocks_from"],
                                          "--threads", "1", "--repeat", "1", "--warmup", "0", "--output", "c.csr", "--force",
                                          "--json"]))
        soak.succeed(["csr-export", "c.csr", "c.mtx", "--force", "--quiet"])
        if (soak.scratch / "c.mtx").read_bytes() != (soak.scratch / "whole.mtx").read_bytes():
            raise Finding(f"{ranks} ranks with blocks from {row['blocks_from']} make another C than one process")
        moved = record["bytes"]
        if (moved["total"], moved["worst_rank"]) != (row["moved_bytes"], row["worst_received_bytes"]):
            raise Finding(f"csr-spgemm-dist moved {moved}, forecast were {row}")
        soak.count("products")


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


class Large:
    """Commands on files of gigabytes, in a folder of their own, on all cores."""

    def __init__(self, soak):
        self.soak, self.folder = soak, soak.state / "large"
        self.steps = [lambda size=size: self.around_two_to_the_31(*size) for size in LARGE] + [self.two_to_the_32_results]

    def run(self, *command):
        return self.soak.succeed(command, folder=self.folder, timeout=3600, environment={"OMP_NUM_THREADS": str(os.cpu_count())})

    def multiply(self, name, *words):
        self.run("csr-spmm-cpu", name, "--repeat", "1", "--warmup", "0", "--check=sampled", "--quiet", *words)
        self.soak.count("products")

    def around_two_to_the_31(self, rows, cols, widths):
        self.run("csr-generate", "dense", "big.csr", "--set", f"rows={rows}", "--set", f"cols={cols}", "--value-kind", "none", "--force", "--quiet")
        nnz = json.loads(self.run("csr-info", "big.csr", "--header-only", "--json"))["nnz"]
        if nnz != rows * cols:
            raise Finding(f"the header of {rows} x {cols} entries says {nnz}")
        self.run("csr-info", "big.csr", "--verify", "--quiet")
        self.soak.count("matrices")
        for width in widths:
            self.multiply("big.csr", "-k", width)

    def two_to_the_32_results(self):
        self.run("csr-generate", "dense", "tall.csr", "--set", f"rows={1 << 25}", "--set", "cols=1", "--force", "--quiet")
        self.multiply("tall.csr", "-k", "129", "--value-kind", "f16", "--output-kind", "f16")


def large(soak):
    """Around 2^31 entries: written, verified and multiplied; and a result of more than 2^32 elements.

    A round goes on with the matrix after the last that was finished, and ends with the last one."""
    memory, disk = 12 << 30, 10 << 30
    if available_bytes() < memory:
        raise NotHere(f"needs {memory >> 30} GiB of free memory")
    files = Large(soak)
    files.folder.mkdir(exist_ok=True)
    try:
        if shutil.disk_usage(files.folder).free < disk:
            raise NotHere(f"needs {disk >> 30} GiB of disk in {files.folder}")
        for at in range(soak.recall("next", 0), len(files.steps)):
            if not soak.has_time():
                break
            files.steps[at]()
            soak.keep("next", (at + 1) % len(files.steps))
    finally:
        shutil.rmtree(files.folder, ignore_errors=True)


def parts(_build):
    return {
        "R10.large": ("around 2^31 entries, written, verified, multiplied; 2^32 results", large),
        "R13.bits": ("the same bits with any number of threads", same_bits),
        "R13.ranks": ("products on ranks: the same bits, and the bytes that were forecast", rank_bits),
        "R16.conversions": ("out of .csr and in again changes nothing", conversions),
    }
