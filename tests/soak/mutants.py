"""R19: would the tests of the judge and of the .csr file's reader and writers notice a mistake?

Changes one operator, constant or line at a time, builds the tests of that room with it, and runs them. A
mutant that no test notices is a finding, unless mutants_explained.tsv says why it changes nothing. Each
round goes on where the last one ended, and ends with the last mutant. What survived in a round before is
a finding until it is tried again and killed, or explained."""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import threading

from common import Finding, NotHere, Stopped

FILE_TESTS = ("tests/unit/core/file/csr_file_test.cpp", "tests/unit/core/file/csr_file_frame_test.cpp",
              "tests/unit/core/file/csr_file_layout_test.cpp", "tests/unit/core/file/rank_sections_test.cpp",
              "tests/fuzz/csr_file_fuzz_test.cpp")
JUDGE_TESTS = ("tests/unit/core/judge/compare_test.cpp", "tests/unit/core/judge/compare_spgemm_test.cpp",
               "tests/unit/core/judge/compare_sddmm_test.cpp", "tests/unit/core/judge/solution_test.cpp",
               "tests/unit/core/judge/reference_test.cpp", "tests/unit/core/base/team_errors_test.cpp",
               "tests/unit/core/contract/spgemm_test.cpp", "tests/unit/core/contract/sddmm_test.cpp")
# Files, their tests, how mutants are optimised: the checksums of the file tests want some of it.
ROOMS = {
    "judge": (("core/judge/compare.cpp", "core/judge/compare_spgemm.cpp", "core/judge/compare_sddmm.cpp",
               "core/judge/projections.cpp", "core/judge/reference.cpp", "core/judge/solution.cpp"), JUDGE_TESTS, "-O0"),
    "file": (("core/file/csr_file.cpp", "core/file/csr_file_checks.cpp", "core/file/csr_file_decode.cpp",
              "core/file/csr_file_frame.cpp", "core/file/csr_file_layout.cpp", "core/file/csr_file_sections.cpp",
              "core/file/csr_file_sink.cpp", "core/file/csr_file_writer.cpp", "core/file/file_memory.cpp"), FILE_TESTS, "-O1"),
}
# What is tried at every place: pattern, replacement.
CHANGES = [(re.compile(pattern), new) for pattern, new in (
    (r" <= ", " < "), (r" >= ", " > "), (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" \+= ", " -= "),
    (r" \|= ", " &= "), (r"\bstd::max\b", "std::min"), (r"\bstd::min\b", "std::max"), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\bstd::fabs\(", "("), (r"!(?=[a-z(])", ""))]
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
STATEMENT = re.compile(r"^\s+[\w.\->\[\]]+(\(.*\)| [-+|]?= .*|\+\+);$")
# Bounds and tolerances, doubled: the mistake that a lenient judge makes.
DOUBLED = re.compile(r"((?:const double |double )(?:bound|slack|tiny|unit|c_unit)\s*=)(?!=)")
MESSAGE = re.compile(r'"|to_string|text_of|#|\bthrow\b|static_assert|options_\.progress|madvise')
# Of a processor, which a busy machine does not change; and by the clock, for what waits for ever.
TEST_SECONDS, TEST_HANGS_SECONDS = 60, 1200


def mutants_of(root, file):
    """(line number, line, changed line) for everything that is tried in a file."""
    lines = (root / file).read_text(encoding="utf-8").split("\n")
    for at, line in enumerate(lines):
        code = line.split("//")[0].rstrip()
        if not code.strip() or MESSAGE.search(code):
            continue
        seen = {line}
        changed = [code[:m.start()] + new + code[m.end():] for pattern, new in CHANGES for m in pattern.finditer(code)]
        changed += [code[:m.start()] + str(int(m.group(1)) + 1) + code[m.end():] for m in NUMBER.finditer(code)]
        changed += [DOUBLED.sub(r"\1 2 *", code)] if DOUBLED.search(code) else []
        changed += [""] if STATEMENT.match(code) else []
        for mutant in changed:
            if mutant not in seen:
                seen.add(mutant)
                yield at, line, mutant


def explained(root):
    """(file, line, mutant) of those that change nothing."""
    file = root / "tests" / "soak" / "mutants_explained.tsv"
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {(row[0], row[1], row[2]) for row in rows}


class Room:
    """The tests of one room, built once, to be linked with one mutant after another."""

    def __init__(self, soak, name):
        self.soak = soak
        self.files, tests, self.optimisation = ROOMS[name]
        database = soak.build / "compile_commands.json"
        library = soak.build / "libcsrkit_core.a"
        if not database.exists() or not library.exists():
            raise NotHere("needs a build folder with compile_commands.json and libcsrkit_core.a")
        self.commands = {}
        for entry in json.loads(database.read_text()):
            name_here = os.path.relpath(entry["file"], soak.root)
            if "sanitized" not in entry["command"] and name_here not in self.commands:
                self.commands[name_here] = entry["command"]
        self.library = library
        self.objects = []
        folder = soak.state / "objects"
        folder.mkdir(exist_ok=True)
        for test in tests:
            target = folder / (pathlib.Path(test).stem + ".o")
            if not target.exists() or target.stat().st_mtime < (soak.root / test).stat().st_mtime:
                if not self.compile(test, soak.root / test, target):
                    raise Finding(f"{test} does not compile")
            self.objects.append(target)
        # What a file includes is compiled once, not with each of its mutants.
        self.headers = {}
        for file in self.files:
            header = folder / (pathlib.Path(file).stem + ".h")
            lines = (soak.root / file).read_text(encoding="utf-8").splitlines()
            header.write_text("\n".join(line for line in lines if line.startswith("#include")) + "\n", encoding="utf-8")
            if not self.compile(file, header, header.with_suffix(".h.gch"), ["-x", "c++-header"]):
                raise Finding(f"the headers of {file} do not compile")
            self.headers[file] = ["-include", str(header)]

    def compile(self, file, source, target, extra=()):
        words = shlex.split(self.commands[file])
        words = [word for word in words if word not in ("-Werror", "-O3")]
        words = words[:words.index("-o")] + [self.optimisation, "-w", *extra, "-o", str(target), "-c", str(source)]
        words = [word for i, word in enumerate(words) if not (word in ("-MD",) or words[i - 1] in ("-MT", "-MF") or word in ("-MT", "-MF"))]
        return subprocess.run(words, cwd=self.soak.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def verdict(self, file, text):
        """killed, survived or stillborn"""
        folder = self.soak.scratch / threading.current_thread().name
        folder.mkdir(exist_ok=True)
        source, target, program = folder / "mutant.cpp", folder / "mutant.o", folder / "mutant"
        source.write_text(text, encoding="utf-8")
        if file and not self.compile(file, source, target, self.headers[file]):
            return "stillborn"
        own = [str(target)] if file else []
        link = ["c++", "-fopenmp", "-o", str(program), *own, *map(str, self.objects), str(self.library), "-lgtest_main", "-lgtest",
                "-lxxhash", "-lpthread"]
        done = subprocess.run(link, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Finding(f"the tests do not link: {done.stderr[-600:]!r}")
        # On the disk, and emptied: a mutant that never ends may write as long as it lives.
        temporary = self.soak.state / "temporary" / folder.name
        temporary.mkdir(parents=True, exist_ok=True)
        try:
            environment = dict(self.soak.environment, TMPDIR=str(temporary))
            limited = ["sh", "-c", f'ulimit -t {TEST_SECONDS}; exec "$@"', "sh"]
            code = subprocess.run([*limited, str(program), "--gtest_brief=1", "--gtest_fail_fast"], cwd=folder,
                                  env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=TEST_HANGS_SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            return "killed"
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        if code == -signal.SIGTERM:  # by whoever ends the soak
            raise Stopped
        return "killed" if code != 0 else "survived"


def key_of(file, at, line, mutant):
    return "\t".join((file, str(at), line.strip(), mutant.strip()))


def without_number(key):
    file, _, line, mutant = key.split("\t")
    return file, line, mutant


def mutants_with_keys(root, file):
    """(file, line number, line, changed line), key. A key counts equal changes: lines move, files stay known."""
    seen = collections.Counter()
    for at, line, mutant in mutants_of(root, file):
        same = (line.strip(), mutant.strip())
        seen[same] += 1
        yield (file, at, line, mutant), key_of(file, seen[same], *same)


def verdicts_so_far(soak):
    """key -> the last verdict on it, of the rounds before."""
    kept = soak.state / "verdicts.tsv"
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {key: verdict for verdict, key in (line.split("\t", 1) for line in lines)}


def hunt(soak, name):
    """Tries what has no verdict yet. What survived before comes first: it may have a test or a reason since."""
    room = Room(soak, name)
    if room.verdict("", "") != "survived":
        raise Finding("the tests fail without any mutant")
    known = explained(soak.root)
    work = [mutant for file in room.files for mutant in mutants_with_keys(soak.root, file)]
    random.Random(2).shuffle(work)
    verdicts = verdicts_so_far(soak)
    settled = {key for key, verdict in verdicts.items() if verdict != "survived" or without_number(key) in known}
    left = [(mutant, key) for mutant, key in work if key not in settled]
    if not left:  # all were tried: once more, from the beginning
        (soak.state / "verdicts.tsv").unlink()
        verdicts, left = {}, list(work)
    left.sort(key=lambda pair: (pair[1] not in verdicts, " 2 *" not in pair[0][3]))  # then doubled bounds
    lock, survivors = threading.Lock(), {key for _, key in left if key in verdicts}
    soak.counts["of"] = len(work)

    def try_mutants():
        while soak.has_time():
            with lock:
                if not left:
                    return
                (file, at, _, mutant), key = left.pop(0)
            lines = (soak.root / file).read_text(encoding="utf-8").split("\n")
            lines[at] = mutant
            verdict = room.verdict(file, "\n".join(lines))
            if verdict == "survived" and without_number(key) in known:
                verdict = "explained"
            with lock:
                soak.count(verdict)
                (survivors.add if verdict == "survived" else survivors.discard)(key)
                with open(soak.state / "verdicts.tsv", "a", encoding="utf-8") as kept:
                    kept.write(f"{verdict}\t{key}\n")

    with concurrent.futures.ThreadPoolExecutor(soak.jobs) as pool:
        for worker in [pool.submit(try_mutants) for _ in range(soak.jobs)]:
            worker.result()
    soak.counts["sweeps"] = round(1 - len(left) / len(work), 3)
    if survivors:
        said = (key.split("\t") for key in sorted(survivors))
        raise Finding(f"{len(survivors)} mutants survive: " + "; ".join(f"{file}: {line} -> {new}" for file, _, line, new in said))


def parts(_build):
    return {f"R19.{name}": (f"mutants of {', '.join(files)}", lambda soak, name=name: hunt(soak, name))
            for name, (files, *_) in ROOMS.items()}
