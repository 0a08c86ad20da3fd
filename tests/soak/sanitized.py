"""R12: host code is clean under AddressSanitizer and UndefinedBehaviorSanitizer: unit tests, and the tools' cases."""
import os

from common import Finding, NotHere

# What cannot be run so: a preloaded METIS or clock comes before the sanitizer, scripts bring tools of their
# own, forecasts and limits know nothing of its memory; and a limited address space has no room for it.
LEFT_OUT = ("all/gpu_library", "all/examples", "import/bombs", "scripts/", "story/", "reorder/metis_hard_cases",
            "probe/busy_machine", "forecast/memory", "spgemm-cpu/row_blocks", "-gpu/")
LIMITED = "ulimit -v"
SKIPPED = 6
CASE_SECONDS = 1500


def work_of(soak):
    """Commands by their names: unit tests, which come first, and cases."""
    programs = [path for path in sorted((soak.build / "tests").glob("unit_*")) if path.is_file() and os.access(path, os.X_OK)]
    yield from ((path.name, [path, "--gtest_brief=1"]) for path in programs)
    for path in sorted((soak.root / "tests" / "cli").glob("*/*.sh")):
        name = f"{path.parent.name}/{path.stem}"
        if not any(word in name for word in LEFT_OUT) and LIMITED not in path.read_text(encoding="utf-8"):
            yield name, [soak.root / "tests" / "cli" / "run_case", path, soak.scratch / "installed" / "bin"]


def suite(soak):
    """Goes on where the last round ended, and ends with the last case."""
    if "CSRKIT_SANITIZE:BOOL=ON" not in (soak.build / "CMakeCache.txt").read_text(encoding="utf-8"):
        raise NotHere("needs a build of the preset debug")
    soak.succeed(["cmake", "--install", soak.build, "--prefix", soak.scratch / "installed"])
    reports = soak.scratch / "reports"
    reports.mkdir()
    options = f"log_path={reports}/report:exitcode=99"
    # libarchive 3.6 forgets what it took from zlib when a write fails. The tools end then.
    suppressions = soak.scratch / "suppressions"
    suppressions.write_text("leak:deflateInit2_\n", encoding="utf-8")
    environment = {"ASAN_OPTIONS": f"{options}:allocator_may_return_null=1",
                   "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
                   "UBSAN_OPTIONS": f"{options}:print_stacktrace=1", "TMPDIR": str(soak.scratch)}
    work, findings = list(work_of(soak)), []
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


def parts(_build):
    return {"R12.suite": ("unit tests and the tools' cases under ASan and UBSan", suite)}
