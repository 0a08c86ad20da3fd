"""R12: host code is clean under AddressSanitizer and UndefinedBehaviorSanitizer: unit tests, and the tools' cases.
And without data races: unit tests under ThreadSanitizer."""
import os
import pathlib
import re
import shutil

from common import Finding, NotHere

# What cannot be run so: a preloaded METIS, clock or judge comes before the sanitizer, and so do Python and programs that link
# the library; scripts bring tools of their own, forecasts and limits know nothing of its memory; and a limited address
# space has no room for it.
LEFT_OUT = ("all/gpu_library", "all/examples", "import/bombs", "scripts/", "story/", "reorder/metis_hard_cases",
            "probe/busy_machine", "all/wrong_products", "forecast/memory", "spgemm-cpu/row_blocks", "library/", "python/",
            "-gpu/")
LIMITED = "ulimit -v"
# One counts the threads of the process, and ThreadSanitizer has one of its own. The other starts threads in a forked child, which
# ThreadSanitizer ends.
NOT_FOR_THREADS = "SpgemmThreads.OneMeansThatNoOtherIsStarted:Team.IsMadeAnewInAForkedChild"
SKIPPED = 6
CASE_SECONDS = 1500


def programs_of(soak):
    return [path for path in sorted((soak.build / "tests").glob("unit_*")) if path.is_file() and os.access(path, os.X_OK)]


def work_of_suite(soak):
    """Commands by their names: unit tests, which come first, and cases."""
    yield from ((path.name, [path, "--gtest_brief=1"]) for path in programs_of(soak))
    for path in sorted((soak.root / "tests" / "cli").glob("*/*.sh")):
        name = f"{path.parent.name}/{path.stem}"
        if not any(word in name for word in LEFT_OUT) and LIMITED not in path.read_text(encoding="utf-8"):
            yield name, [soak.root / "tests" / "cli" / "run_case", path, soak.scratch / "installed" / "bin"]


def work_of_threads(soak):
    """Commands by their names: the suites of every program of unit tests."""
    for program in programs_of(soak):
        listed = soak.succeed([program, "--gtest_list_tests"]).decode()
        for suite_name in re.findall(r"^(\S+\.)", listed, re.M):
            yield f"{program.name} {suite_name}*", [program, f"--gtest_filter={suite_name}*:-{NOT_FOR_THREADS}", "--gtest_brief=1"]


def cached(soak, name):
    """What the build's cache says."""
    found = re.search(rf"^{name}:\w+=(.*)$", (soak.build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    return found.group(1) if found else ""


def run_all(soak, work, environment):
    """Goes on where the last round ended, and ends with the last of the work. Reports are findings."""
    reports = soak.scratch / "reports"
    reports.mkdir()
    options = f"log_path={reports}/report:exitcode=99"
    environment = {name: value.replace("OPTIONS", options) for name, value in environment.items()}
    if not work:
        raise NotHere("no unit tests were built")
    findings = []
    place = soak.recall("done", 0) % len(work)
    soak.counts["of"] = len(work)
    while soak.has_time() and place < len(work):
        name, command = work[place]
        code, out, said = soak.run(command, environment=environment, timeout=CASE_SECONDS)
        place += 1
        soak.keep("done", place)
        for report in reports.iterdir():
            text = report.read_text(encoding="utf-8", errors="replace")
            findings.append(f"{name}, kept as {soak.keep_file(report)}: {text[:600]}")
            report.unlink()
        if code not in (0, SKIPPED):
            findings.append(f"{name}: code {code}: {out[-300:]!r} {said[-600:]!r}")
        soak.count("skipped" if code == SKIPPED else "run")
    soak.counts["last"] = place
    if findings:
        raise Finding("; ".join(findings))


def suite(soak):
    if cached(soak, "CSRKIT_SANITIZE") not in ("address", "ON"):
        raise NotHere("needs a build of the preset debug")
    soak.succeed(["cmake", "--install", soak.build, "--prefix", soak.scratch / "installed"])
    # libarchive 3.6 forgets what it took from zlib when a write fails. The tools end then.
    suppressions = soak.scratch / "suppressions"
    suppressions.write_text("leak:deflateInit2_\n", encoding="utf-8")
    # Beside the folder of the tools, where cases look for it.
    for counter in (soak.build / "tests" / "cli").glob("libcsrkit_count_messages.so"):
        shutil.copy(counter, soak.scratch)
    # Open MPI leaves memory behind, much of it by parts of itself that are gone by the end, so nothing can name them;
    # and what counts messages is loaded before the sanitizer.
    launchers = soak.scratch / "launchers"
    launchers.mkdir()
    for real in filter(None, [shutil.which("mpirun")]):
        wrapper = launchers / "mpirun"
        wrapper.write_text(f'#!/bin/sh\nexec env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0:verify_asan_link_order=0" {real} "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)
    run_all(soak, list(work_of_suite(soak)), {
        "PATH": f"{launchers}:{os.environ['PATH']}",
        "ASAN_OPTIONS": "OPTIONS:allocator_may_return_null=1",
        "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
        "UBSAN_OPTIONS": "OPTIONS:print_stacktrace=1", "TMPDIR": str(soak.scratch)})


def threads(soak):
    if cached(soak, "CSRKIT_SANITIZE") != "thread":
        raise NotHere("needs a build of the preset threads")
    # It tells ThreadSanitizer of OpenMP's barriers; without it, every parallel loop is a race.
    resources = soak.succeed([cached(soak, "CMAKE_CXX_COMPILER"), "-print-resource-dir"]).decode().strip()
    archer = pathlib.Path(resources, "..", "..", "libarcher.so").resolve()
    if not archer.exists():
        raise NotHere(f"needs {archer}, which comes with LLVM's OpenMP")
    run_all(soak, list(work_of_threads(soak)), {
        "OMP_TOOL_LIBRARIES": str(archer), "OMP_NUM_THREADS": "4",
        "TSAN_OPTIONS": "OPTIONS:allocator_may_return_null=1:ignore_noninstrumented_modules=1"})


def parts(_build):
    return {"R12.suite": ("unit tests and the tools' cases under ASan and UBSan", suite),
            "R12.threads": ("unit tests of the parallel code under ThreadSanitizer", threads)}
