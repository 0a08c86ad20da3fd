"""R19: which lines and branches of core, import and file code the tests reach.

Unit and fuzz tests, the tools' cases, and calls that fail as in R7 and R8, on a build that counts. What they find is judged
by other parts: here they are only run. A round goes on where the last one ended, and counts what all
have reached so far; after the last of the work the next one begins anew."""
import collections
import errno
import os
import re

import common
import counted_code
import faults
from common import Finding, NotHere
from sanitized import CASE_SECONDS, cached

ROOMS = ("core/", "preprocess/import/")
LINES_WANTED, BRANCHES_WANTED = 95, 90
# Scripts bring tools of their own, and end in other programs; a limited file could cut what counts. Every kernel, and many
# iterations, take longer here than all else, and read their files as other cases do; so do the property tests.
LEFT_OUT = ("scripts/", "story/", "library/", "python/", "-gpu/", "all/examples", "/every_kernel", "/iteration_counts",
            "/known_solutions")
LIMITED = "ulimit -f"
# Of the commands that the sweeps attack: one for each way to read and to write.
REFUSED = ("import", "import-gzip", "import-npz", "import-edges", "spmm", "partition", "spgemm-parts", "picture", "records")
# Lines without code of their own: what is destroyed there has branches that nobody wrote.
NO_CODE = re.compile(r"^[\s{}();,]*(//.*)?$")


def work_of(soak):
    """(name, function) of everything that is run."""
    folder = soak.build / "tests"
    for path in sorted(path for name in ("unit_*", "fuzz") for path in folder.glob(name)):
        if path.is_file() and os.access(path, os.X_OK):
            yield path.name, lambda path=path: soak.run([path, "--gtest_brief=1"], timeout=3600)
    for path in sorted((soak.root / "tests" / "cli").glob("*/*.sh")):
        name = f"{path.parent.name}/{path.stem}"
        if not any(word in name for word in LEFT_OUT) and LIMITED not in path.read_text(encoding="utf-8"):
            yield name, lambda path=path: soak.run([soak.root / "tests" / "cli" / "run_case", path, soak.tools],
                                                   timeout=CASE_SECONDS)
    for case in common.CASES:
        if not case.is_python and case.name in REFUSED:
            yield f"refusals of {case.name}", lambda case=case: refuse(soak, case)


def refuse(soak, case):
    """The first, a middle and the last call of each kind fail, and some allocations: what the sweeps of R7 and R8 do."""
    common.make_inputs(soak)
    totals, _ = faults.calls_of(soak, case)
    for call, (reasons, _) in (*faults.REFUSALS.items(), ("allocate", ([errno.ENOMEM], ()))):
        total, parts = totals.get(call, 0), 12 if call == "allocate" else 2
        for number in sorted({max(1, total * i // parts) for i in range(parts + 1)} if total else ()):
            common.remove_outputs(soak)
            faults.run_with(soak, case, f"{call} {number} {reasons[0]}")


def counters(soak):
    """What gcov reads: all of the rooms, and whatever else was run, for the headers in it."""
    for notes in sorted(soak.build.rglob("*.gcno")):
        place = str(notes.relative_to(soak.build))
        if "csrkit_core.dir" in place or "csrkit_import.dir" in place or notes.with_suffix(".gcda").exists():
            yield notes


class Counted:
    """line -> how often it ran, and (line, branches there, number) -> how often one was taken, of one file.

    Instances of a template count together where they have as many branches."""

    def __init__(self):
        self.lines, self.branches = collections.Counter(), collections.Counter()


def count(soak):
    """file -> Counted, of all files of the rooms. Templates and inlined functions count wherever they ran."""
    files = collections.defaultdict(Counted)
    names = {}  # of the rooms, by what the compiler calls them; else ""

    def name_of(file):
        if file not in names:
            name = os.path.relpath(os.path.join(soak.build, file), soak.root)
            names[file] = name if name.startswith(ROOMS) else ""
        return names[file]

    for notes in counters(soak):
        for function in counted_code.read_functions(notes):
            for block, places in function.places.items():
                for file, line in places:
                    if name_of(file):
                        files[name_of(file)].lines[line] += function.count_of(block)
            at = collections.defaultdict(list)
            for (file, line), taken in function.branches():
                if name_of(file):
                    at[name_of(file), line] += taken
            for (name, line), taken in at.items():
                for number, times in enumerate(taken):
                    files[name].branches[line, len(taken), number] += times
    for name, counted in files.items():
        text = (soak.root / name).read_text(encoding="utf-8").splitlines()
        for key in [key for key in counted.branches if NO_CODE.match(text[key[0] - 1])]:
            del counted.branches[key]
    return files


def share(taken):
    """Percent of what was reached at least once."""
    taken = list(taken)
    return round(100 * sum(n > 0 for n in taken) / max(len(taken), 1), 1)


def totals(files):
    return (share(n for file in files.values() for n in file.lines.values()),
            share(n for file in files.values() for n in file.branches.values()))


def report(soak, files):
    """Under the part's state: per file what is missing, worst first."""
    rows = []
    for name, file in files.items():
        missing = sorted(key[0] for key, times in file.branches.items() if times == 0)
        rows.append((len(missing), name, share(file.branches.values()),
                     sorted(number for number, times in file.lines.items() if times == 0), sorted(set(missing))))
    with open(soak.state / "missing.txt", "w", encoding="utf-8") as out:
        for count_of, name, percent, lines, branches in sorted(rows, reverse=True):
            out.write(f"{name}: {percent} % of branches, {count_of} missing; lines never run: {lines}; branches at: {branches}\n")


def coverage(soak):
    if "--coverage" not in cached(soak, "CMAKE_CXX_FLAGS"):
        raise NotHere("needs a build of the preset coverage")
    work = list(work_of(soak))
    done = soak.recall("done", [])
    if len(done) >= len(work):
        done = []
        for data in soak.build.rglob("*.gcda"):
            data.unlink()
    for name, run in work:
        if name not in done and soak.has_time():
            run()
            done.append(name)
            soak.keep("done", done)
    files = count(soak)
    report(soak, files)
    lines, branches = totals(files)
    soak.counts.update(of=len(work), run_so_far=len(done), lines_percent=lines, branches_percent=branches)
    if len(done) == len(work) and (lines < LINES_WANTED or branches < BRANCHES_WANTED):
        raise Finding(f"{lines} % of lines and {branches} % of branches are reached, {LINES_WANTED} and {BRANCHES_WANTED} are "
                      f"wanted; {soak.state / 'missing.txt'} says where")


def parts(_build):
    return {"R19.coverage": ("lines and branches of core and import that the tests reach", coverage)}
