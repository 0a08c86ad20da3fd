"""R10, R13, R16: the same bits every time, nothing lost on the way, sizes beyond 2^31."""
import json
import re
import shutil

from common import Finding, NotHere

NNZ_BEYOND = 46341  # squared: 2^31 + 4633


def names_in_list(soak, tool, needle):
    text = soak.succeed([tool, "--list"]).decode()
    return [line.split()[0] for line in text.splitlines() if re.search(needle, line)]


def same_bits(soak):
    """Every kernel that does not need --nondeterministic: any number of threads, any time."""
    kernels = json.loads(soak.succeed(["csr-spmm-cpu", "--list", "--json"]))
    names = [row["kernel"].rsplit(".", 1)[-1] for row in kernels]
    while soak.has_time() or not soak.counts:
        pattern = soak.chance.choice((["rmat", "--set", "scale=9"], ["dense", "--set", "rows=40"], ["poisson", "--set", "nx=30"]))
        soak.succeed(["csr-generate", pattern[0], "g.csr", *pattern[1:], "--seed", soak.chance.randrange(1000), "--quiet"])
        for tool, extra, output in (("csr-spmm-cpu", ["-k", soak.chance.choice((1, 3, 8, 17, 32))], "c.npy"),
                                    ("csr-spgemm-cpu", [], "c.csr")):
            kernel = soak.chance.choice(names) if tool == "csr-spmm-cpu" else "auto"
            seen = set()
            for _ in range(10):
                threads = soak.chance.randrange(1, 9)
                code, _, said = soak.run([tool, "g.csr", *extra, "--kernel", kernel, "--threads", threads, "--repeat", "1",
                                          "--warmup", "0", "--output", output, "--quiet"])
                if code == 2:
                    break  # the kernel cannot do this matrix, or needs --nondeterministic
                if code != 0:
                    raise Finding(f"code {code} of {tool} {kernel}: {said[-300:]!r}")
                if output == "c.npy":
                    seen.add((soak.scratch / output).read_bytes())
                else:
                    soak.succeed(["csr-export", "c.csr", "c.mtx", "--quiet"])
                    seen.add((soak.scratch / "c.mtx").read_bytes())
                soak.count("products")
            if len(seen) > 1:
                raise Finding(f"{len(seen)} different results of {tool} --kernel {kernel}")


PATTERNS = (["rmat", "scale=6"], ["dense", "rows=30"], ["poisson", "nx=9", "ny=7"], ["banded", "n=50"], ["arrow", "n=40"],
            ["erdos-renyi", "rows=40", "cols=90", "nnz=200"], ["erdos-renyi", "rows=7", "nnz=0"], ["communities", "n=200"])


def conversions(soak):
    """csr -> any -> csr is the identity for every format that need not lose anything."""
    while soak.has_time() or not soak.counts:
        pattern, *settings = soak.chance.choice(PATTERNS)
        kind = soak.chance.choice(("none", "f32", "f64"))
        soak.succeed(["csr-generate", pattern, "g.csr", *(word for setting in settings for word in ("--set", setting)),
                      "--value-kind", kind, "--seed", soak.chance.randrange(10000), "--quiet"])
        for name in ("copy.mtx", "copy.mtx.gz", "copy.npz"):
            soak.succeed(["csr-export", "g.csr", name, "--quiet"])
            soak.succeed(["csr-import", name, "copy.csr", "--value-kind", kind, "--quiet"])
            soak.succeed(["csr-export", "copy.csr", "again.mtx", "--quiet"])
            soak.succeed(["csr-export", "g.csr", "once.mtx", "--quiet"])
            if (soak.scratch / "once.mtx").read_bytes() != (soak.scratch / "again.mtx").read_bytes():
                raise Finding(f"{pattern} of {kind} came back different from {name}")
            soak.count("round_trips")


def available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


def large(soak):
    """A matrix of more than 2^31 entries: written, verified and multiplied."""
    need = 20 << 30
    if available_bytes() < need:
        raise NotHere(f"needs {need >> 30} GiB of free memory")
    folder = soak.state / "large"
    folder.mkdir(exist_ok=True)
    try:
        if shutil.disk_usage(folder).free < need:
            raise NotHere(f"needs {need >> 30} GiB of disk in {folder}")
        soak.run(["csr-generate", "dense", "big.csr", "--set", f"rows={NNZ_BEYOND}", "--value-kind", "none", "--quiet"],
                 folder=folder, timeout=3600)
        code, out, said = soak.run(["csr-info", "big.csr", "--header-only", "--json"], folder=folder)
        if code != 0 or json.loads(out)["nnz"] != NNZ_BEYOND**2:
            raise Finding(f"the header of the large matrix: code {code}, {out[:300]!r}, {said[-300:]!r}")
        for command in (["csr-info", "big.csr", "--verify"],
                        ["csr-spmm-cpu", "big.csr", "-k", "1", "--repeat", "1", "--warmup", "0", "--check=sampled"]):
            code, _, said = soak.run([*command, "--quiet"], folder=folder, timeout=3600)
            if code != 0:
                raise Finding(f"code {code} of {command}: {said[-500:]!r}")
            soak.count("commands")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def parts(_build):
    return {
        "R10.large": ("2^31 + 4633 entries: written, verified, multiplied", large),
        "R13.bits": ("the same bits with any number of threads", same_bits),
        "R16.conversions": ("out of .csr and in again changes nothing", conversions),
    }
