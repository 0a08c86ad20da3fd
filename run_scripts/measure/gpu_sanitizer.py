#!/usr/bin/env python3
"""compute-sanitizer's four tools over every production kernel of the GPU, in parts.

A part is one of the small GPU tests whose names begin with Sanitizer, under one tool: memcheck, racecheck,
initcheck or synccheck. The tool "launches" is no sanitizer: it notes which device functions a test launches.
Parts are dealt to all visible GPUs. Each part appends one record. What passed at the build's commit is not run again,
so a call with --seconds goes on where the last one ended.

Exit code 1 if a tool reported something, or if a production kernel has no test; 6 without a GPU.
"""
import argparse
import collections
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("launches", "memcheck", "racecheck", "initcheck", "synccheck")
# These run again with launches one by one if the tool breaks them; docs/reliability.md says what is known of it.
BROKEN_BY_TOOL = {("initcheck", "SanitizerSpgemmRowBins.SmallAdversarialProducts/shrunk_32")}
OPERATIONS = ("spmm", "spmv", "spgemm", "sddmm", "solve")
BEGIN, END = "<!-- sanitizer: written by run_scripts/measure/gpu_sanitizer.py --summary -->\n", "<!-- sanitizer: end -->\n"


class Failed(Exception):
    """A code and a sentence."""


def output_of(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


class Build:
    """The programs of a build folder: what there is to run, and of which commit it is."""

    def __init__(self, folder):
        self.program = folder / "tests" / "gpu"
        self.tools = folder / "tools"
        self.names_library = folder / "tests" / "soak" / "libkernel_names.so"
        if not self.program.exists():
            raise Failed(2, f"there is no '{self.program}'; build the target 'gpu' with CUDA")
        self.commit = re.search(r"^commit: (\S+)", output_of(self.tools / "csr-info", "--version"), re.M).group(1)
        self.tests, suite = [], ""
        for line in output_of(self.program, "--gtest_list_tests", "--gtest_filter=Sanitizer*").splitlines():
            word = line.split("#")[0].strip()
            if not line.startswith(" "):
                suite = word
            else:
                self.tests.append(suite + word)

        self.kernels = [row for operation in OPERATIONS
                        for row in json.loads(output_of(self.tools / f"csr-{operation}-gpu", "--list", "--json"))["rows"]]
        ladder = {row["kernel"].rsplit(".", 1)[-1] for row in self.kernels if row["role"] == "ladder"}
        self.tests.sort(key=lambda test: test.rsplit("/", 1)[-1] in ladder)  # production first

    def untested_kernels(self):
        """Production kernels that no test for sanitizers is named after."""
        plain = [test.lower().replace("_", "") for test in self.tests]
        for row in self.kernels:
            _, operation, name = row["kernel"].split(".")
            name = name.replace("_", "")
            if row["role"] == "production" and not any(operation in test and name in test for test in plain):
                yield row["kernel"]

    def why_no_gpu(self):
        said = output_of(self.program, f"--gtest_filter={self.tests[0]}")
        return "there is no usable GPU" if "SKIPPED" in said else ""


class Part:
    """A test under a tool on a GPU, while it runs."""

    def __init__(self, build, tool, test, gpu, one_by_one=False):
        self.tool, self.test, self.gpu, self.begin = tool, test, gpu, time.monotonic()
        self.one_by_one = one_by_one  # launches
        self.folder = tempfile.TemporaryDirectory(prefix="csrkit-sanitizer.")
        self.log, self.names = (pathlib.Path(self.folder.name) / name for name in ("log", "names"))
        environment = dict(os.environ, CSRKIT_REQUIRE_GPU="1", OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES=gpu)
        if one_by_one:
            environment["CUDA_LAUNCH_BLOCKING"] = "1"
        command = [build.program, f"--gtest_filter={test}", "--gtest_brief=1"]
        if tool == "launches":
            environment.update(CUDA_INJECTION64_PATH=str(build.names_library), CSRKIT_KERNEL_NAMES=str(self.names))
        else:
            # A barrier for every warp of every multiprocessor: without it synccheck loses count. With it, every launch
            # takes so much memory that the graphs of other solvers do not fit.
            needs_room = tool == "synccheck" and test.endswith("/streamed")
            barriers = ["--num-cuda-barriers", "16384"] if needs_room else []
            command = ["compute-sanitizer", "--tool", tool, *barriers, "--error-exitcode", "9", *command]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)

    def record(self, commit):
        """What is known now that the process has ended."""
        now = datetime.datetime.now(datetime.timezone.utc)
        record = {"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit, "tool": self.tool, "part": self.test,
                  "verdict": "failed" if self.process.returncode else "passed",
                  "seconds": round(time.monotonic() - self.begin, 1)}
        if self.one_by_one:
            record["launches"] = "one by one"
        if self.process.returncode:
            record["finding"] = self.log.read_text(errors="replace")[-2000:]
            if (self.tool, self.test) in BROKEN_BY_TOOL and not self.one_by_one and all(
                    words in record["finding"] for words in ("cudaErrorIllegalAddress", "ERROR SUMMARY: 0 errors")):
                record["verdict"] = "repeated"
        elif self.tool == "launches":
            record["kernels"] = sorted(functions_in(self.names.read_text()) if self.names.exists() else [])
        return record


def functions_in(mangled_names):
    """Our device functions among mangled names, as 'file: function' or 'function'."""
    for name in mangled_names.split():
        words, at = [], re.match(r"_ZN?L?", name)
        rest = name[at.end():] if at else ""
        while (length := re.match(r"L?(\d+)", rest)):
            end = length.end() + int(length.group(1))
            words.append(rest[length.end():end])
            rest = rest[end:]
        if words[:2] != ["csrkit", "gpu"]:
            continue
        file = next((match.group(1) for word in words if (match := re.search(r"_GLOBAL__N__.*?_\d+_(\w+)_cu_", word))), "")
        yield f"{file}: {words[-1]}" if file else words[-1]


def functions_of_sources():
    """(file, function) of every __global__ function, but those of ladders and of vendors' adapters."""
    pattern = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\(")
    for path in sorted((ROOT / "gpu").rglob("*.cu*")):
        if "ladder" not in path.parts and "vendor" not in str(path):
            for name in pattern.findall(path.read_text(encoding="utf-8")):
                yield path, name


def is_among(path, name, seen, has_namesakes):
    """By its name alone where no other file has such a function, as it may have moved to this file since; and in a
    header, whose functions belong to whichever file includes it."""
    if path.suffix == ".cuh" or not has_namesakes:
        return any(other.split(": ")[-1] == name for other in seen)
    return f"{path.stem}: {name}" in seen or name in seen


def visible_gpus():
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    if (named := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return named.split(",")
    count = output_of("nvidia-smi", "-L").count("GPU ") if shutil.which("nvidia-smi") else 0
    return [str(gpu) for gpu in range(count)] or ["0"]


def read_records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run(build, options):
    """Runs what is left, several parts at once, until all is done or the time is up; the findings."""
    known = read_records(options.record)
    done = {(record["tool"], record["part"]) for record in known
            if record["commit"] in (build.commit, *options.accept) and record["verdict"] == "passed"}
    took = {(record["tool"], record["part"]): record["seconds"] for record in known}
    work = [(tool, test) for test in build.tests for tool in options.tools
            if (tool, test) not in done and (tool != "launches" or build.names_library.exists())]
    work.sort(key=lambda part: -took.get(part, math.inf))  # new ones and long ones first: they end together
    end, running, findings, gpus = time.monotonic() + options.seconds, [], [], visible_gpus()
    with open(options.record, "a", encoding="utf-8") as file:
        while (work or running) and time.monotonic() < end:
            while work and len(running) < options.jobs:
                emptiest = min(gpus, key=lambda gpu: sum(part.gpu == gpu for part in running))
                running.append(Part(build, *work.pop(0), emptiest))
            for part in [part for part in running if part.process.poll() is not None]:
                running.remove(part)
                record = part.record(build.commit)
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(f"{record['verdict']}  {part.tool:9} {part.test} ({record['seconds']} s)", flush=True)
                if record["verdict"] == "repeated":
                    running.append(Part(build, part.tool, part.test, part.gpu, one_by_one=True))
                elif record["verdict"] == "failed":
                    findings.append(f"{part.tool} {part.test}")
            time.sleep(0.05)
    for part in running:  # they have no verdict: the next call runs them again
        part.process.kill()
        part.process.wait()
    if work or running:
        print(f"{len(work) + len(running)} parts are left; the same command goes on", flush=True)
    return findings


def table(records):
    """What is covered, as text for a page."""
    latest = {(record["part"], record["tool"]): record for record in records if record["verdict"] != "repeated"}
    tests = sorted({test for test, _ in latest})
    lines = ["| part | " + " | ".join(TOOLS[1:]) + " | oldest: date, commit |\n", "|---" * 6 + "|\n"]
    for test in tests:
        cells = [latest.get((test, tool)) for tool in TOOLS[1:]]
        said = [f"{cell['verdict']}{', launches one by one' * ('launches' in cell)}, {cell['seconds']:.0f} s" if cell
                else "not run yet" for cell in cells]
        oldest = min((cell for cell in cells if cell), key=lambda cell: cell["date"], default=latest.get((test, TOOLS[0])))
        lines.append(f"| {test} | " + " | ".join(said) + f" | {oldest['date'][:10]} {oldest['commit']} |\n")
    seen = {name for record in latest.values() for name in record.get("kernels", ())}
    functions = list(functions_of_sources())
    files = collections.Counter(name for name, _ in {(name, path) for path, name in functions})
    missing = [f"`{name}` ({path.relative_to(ROOT)})" for path, name in functions
               if not is_among(path, name, seen, files[name] > 1)]
    lines.append(f"\n{len(functions) - len(missing)} of {len(functions)} device functions outside the ladders are launched by these "
                 f"parts{'; not by any part: ' + ', '.join(missing) if missing else ''}.\n")
    return "".join(lines)


def update_page(records):
    page = ROOT / "docs" / "reliability.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + "\n" + table(records) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="gpu_sanitizer.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, default=ROOT / "build" / "gpu", metavar="DIR",
                        help="a build with tests and CUDA (default: build/gpu)")
    parser.add_argument("--seconds", type=float, default=3600, metavar="N", help="end after so long (default: 3600)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="parts at once (default: as many as cores)")
    parser.add_argument("--tools", type=lambda text: text.split(","), default=TOOLS, metavar="LIST", help="only these, e.g. memcheck")
    parser.add_argument("--record", type=pathlib.Path, default=ROOT / "docs" / "results" / "soak" / "sanitizer.jsonl",
                        metavar="FILE", help="takes the records (default: docs/results/soak/sanitizer.jsonl)")
    parser.add_argument("--accept", type=lambda text: text.split(","), default=[], metavar="COMMITS",
                        help="what passed there is not run again: nothing that matters has changed since")
    parser.add_argument("--list", action="store_true", help="print the parts, and exit")
    parser.add_argument("--summary", action="store_true", help="write what the records cover into docs/reliability.md, and exit")
    options = parser.parse_args()
    if unknown := set(options.tools) - set(TOOLS):
        parser.error(f"there is no tool {', '.join(sorted(unknown))}")
    try:
        if options.summary:
            update_page(read_records(options.record))
            return 0
        build = Build(options.build_dir.resolve())
        if untested := list(build.untested_kernels()):
            raise Failed(1, f"no test for sanitizers is named after {', '.join(untested)}")
        if options.list:
            print(*build.tests, sep="\n")
            return 0
        if reason := build.why_no_gpu():
            print(f"skipped: {reason}")
            return 6
        findings = run(build, options)
    except (Failed, FileNotFoundError) as error:
        code, text = error.args if isinstance(error, Failed) else (4, error)
        print(f"gpu_sanitizer.py: error: {text}", file=sys.stderr)
        return code
    if findings:
        print(f"gpu_sanitizer.py: failed: {'; '.join(findings)}", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
