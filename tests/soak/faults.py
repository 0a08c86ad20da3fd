"""R5 to R8: what is left behind when a system call fails, or when the process is killed at one.

One call of one command at a time, until every call of every command has had its turn. The next run continues
where this one ended."""
import errno
import random

from common import CASES, Finding, NotHere, expected_outputs, is_complete, left_overs, make_inputs, remove_outputs, words_of

# what fails -> (how, exit codes that are right when it does)
REFUSALS = {
    "open": ([errno.EACCES, errno.EIO, errno.EMFILE, errno.ENOSPC], (0, 4)),
    "read": ([errno.EIO], (0, 4)),
    "write": ([errno.ENOSPC, errno.EIO, errno.EDQUOT], (0, 4)),
    "sync": ([errno.EIO, errno.ENOSPC], (0, 4)),
    "close": ([errno.EIO], (0, 4)),
    "rename": ([errno.EACCES, errno.ENOSPC], (0, 4)),
    "unlink": ([errno.EACCES], (0, 4)),
    "map": ([errno.ENOMEM], (0, 5)),
    "thread": ([errno.EAGAIN], (0, 5)),
}
HARMLESS = {"read": ["short", errno.EINTR], "write": ["short", errno.EINTR], "sync": [errno.EINTR]}
# Python cannot be held to what its own start does.
OF_PYTHON = ("write", "sync", "rename")


def shim(soak):
    library = soak.build / "tests" / "soak" / "libfailing_calls.so"
    if not library.exists():
        raise NotHere("failing_calls was not built")
    return library


def run_with(soak, case, fault="", log=""):
    environment = {"LD_PRELOAD": str(shim(soak)), "CSRKIT_FAULT": fault}
    if log:
        environment["CSRKIT_FAULT_LOG"] = log
    if not fault:
        del environment["CSRKIT_FAULT"]
    return soak.run(words_of(soak, case), environment=environment)


def calls_of(soak, case):
    """How often an undisturbed run makes each call, and the order of its calls on files."""
    remove_outputs(soak)
    log = soak.scratch / "calls.log"
    code, _, said = run_with(soak, case, log=str(log))
    if code != 0:
        raise Finding(f"{case.name}: code {code} when calls are only counted: {said[-500:]!r}")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    totals = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("total ")}
    return totals, [line for line in lines if not line.startswith("total ")]


def prepare(soak, case, number):
    """Every other time there is an older output: it must survive, or be replaced by a whole one."""
    remove_outputs(soak)
    older = {}
    if number % 2 and not case.is_python:
        for name in case.outputs:
            if name.endswith(".json"):
                continue
            older[name] = (soak.scratch / "seed.jsonl").read_bytes() if case.grows else b"older\n"
            (soak.scratch / name).write_bytes(older[name])
    return older


def judge(soak, case, what, code, said, right_codes, older, expected, was_killed=False):
    """The promise, for one run."""
    place = f"{case.name}, {what}: code {code}: {said[-300:]!r}"
    if code not in right_codes:
        raise Finding(f"{place}: expected {right_codes}")
    if code > 0 and not was_killed and b"error: " not in said:
        raise Finding(f"{place}: no sentence")
    for name in case.outputs:
        path = soak.scratch / name
        if not path.exists():
            if code == 0:
                raise Finding(f"{place}: {name} is missing")
            continue
        content = path.read_bytes()
        if content == older.get(name):
            if code == 0:
                raise Finding(f"{place}: {name} is the old one")
            continue
        if case.grows:
            if not content.startswith(older.get(name, b"")):
                raise Finding(f"{place}: earlier records are gone")
            continue
        if not is_complete(soak, case, name, expected):
            raise Finding(f"{place}: {name} is neither old nor whole")
    if not was_killed and "unlink" not in what and left_overs(soak):
        raise Finding(f"{place}: left behind: {left_overs(soak)}")


def sweep(soak, faults_of, check):
    """Continues through the faults of all cases, in shuffled order."""
    make_inputs(soak)
    expected = {case.name: expected_outputs(soak, case) for case in CASES}
    work = []
    for case in CASES:
        totals, _ = calls_of(soak, case)
        work.extend((case, fault) for fault in faults_of(case, totals))
    random.Random(1).shuffle(work)
    done = soak.recall("done", 0)
    soak.counts["of"] = len(work)
    while soak.has_time():
        case, fault = work[done % len(work)]
        check(case, fault, done, expected[case.name])
        done += 1
        soak.count("faults")
        soak.keep("done", done)
    soak.counts["sweeps"] = round(done / len(work), 2)


def refused_calls(soak):
    def faults_of(case, totals):
        for call, (actions, codes) in REFUSALS.items():
            if case.is_python and call not in OF_PYTHON:
                continue
            for number in range(1, totals.get(call, 0) + 1):
                for reason in actions:
                    yield f"{call} {number} {reason}", codes
                    if not case.is_python:  # it cannot even say so without a stderr
                        yield f"{call} {number} {reason}+", codes

    def check(case, fault, number, expected):
        what, codes = fault
        older = prepare(soak, case, number)
        code, _, said = run_with(soak, case, what)
        judge(soak, case, what, code, said, (*codes, *case.other_codes) if 5 in codes else codes, older, expected)

    sweep(soak, faults_of, check)


def harmless_calls(soak):
    def faults_of(case, totals):
        for call, actions in HARMLESS.items():
            if case.is_python and call not in OF_PYTHON:
                continue
            for number in range(1, totals.get(call, 0) + 1):
                for action in actions:
                    yield f"{call} {number} {action}"

    def check(case, what, number, expected):
        older = prepare(soak, case, number)
        code, _, said = run_with(soak, case, what)
        judge(soak, case, what, code, said, (0,), older, expected)

    sweep(soak, faults_of, check)


def failing_allocations(soak):
    def faults_of(case, totals):
        if case.is_python:
            return
        for number in range(1, totals.get("allocate", 0) + 1):
            yield f"allocate {number} {errno.ENOMEM}"
            if number % 8 == 1:
                yield f"allocate {number} {errno.ENOMEM}+"

    def check(case, what, number, expected):
        older = prepare(soak, case, number)
        code, _, said = run_with(soak, case, what)
        judge(soak, case, what, code, said, (0, 5, *case.other_codes), older, expected)

    sweep(soak, faults_of, check)


def kills(soak):
    def faults_of(case, totals):
        for number in range(1, totals.get("any", 0) + 1):
            yield f"any {number} kill"
            yield f"any {number} killed"

    def check(case, what, number, expected):
        older = prepare(soak, case, number)
        code, _, said = run_with(soak, case, what)
        if code not in (0, -9) and not case.is_python:
            raise Finding(f"{case.name}, {what}: code {code}, expected a kill")
        judge(soak, case, what, code, said, (0, -9), older, expected, was_killed=True)
        code, _, said = soak.run(words_of(soak, case))
        if case.grows and code == 3 and b"cut short" in said:
            code = 0
        if code != 0:
            raise Finding(f"{case.name}, {what}: the next run ends with {code}: {said[-300:]!r}")
        if left_overs(soak):
            raise Finding(f"{case.name}, {what}: the next run leaves {left_overs(soak)}")

    sweep(soak, faults_of, check)


def order_of_calls(soak):
    """fsync of the file before it is renamed, fsync of the folder after: for every output."""
    make_inputs(soak)
    while soak.has_time():
        for case in CASES:
            if case.grows:
                continue
            _, calls = calls_of(soak, case)
            renames = [at for at, call in enumerate(calls) if call.startswith("rename ")]
            names = {calls[at].split(" ", 1)[1].rsplit("/", 1)[-1] for at in renames}
            if not set(case.outputs) <= names:
                raise Finding(f"{case.name}: {case.outputs} appear without a rename: {names}")
            last_write = 0
            for at in renames:
                own = [i for i in range(last_write, at) if calls[i].startswith("write ") and calls[i] not in ("write 1", "write 2")]
                synced = [i for i in range(last_write, at) if calls[i].startswith("sync ")]
                if own and (not synced or synced[-1] < own[-1]):
                    raise Finding(f"{case.name}: renamed before it was synced: {calls[max(0, at - 8):at + 3]}")
                after = [i for i in range(at, len(calls)) if calls[i].startswith("sync ")]
                if not after:
                    raise Finding(f"{case.name}: its folder is not synced: {calls[max(0, at - 4):]}")
                last_write = at
                soak.count("renames")


def strays(soak):
    """Files are made or written nowhere but where outputs belong, and no socket is opened, without a HOME."""
    make_inputs(soak)
    allowed = ("out.", "/dev/", "/proc/self/", ".", "calls.log")
    while soak.has_time():
        for case in CASES:
            if case.is_python:
                continue
            _, calls = calls_of(soak, case)
            for call in calls:
                name = call.split(" ", 1)[1]
                if call.startswith("socket"):
                    raise Finding(f"{case.name} opens a socket")
                if call.startswith("create ") and not name.rsplit("/", 1)[-1].startswith(allowed) and not name.startswith(allowed):
                    raise Finding(f"{case.name} writes {name}")
                soak.count("calls")


def parts(_build):
    return {
        "R5.kills": ("SIGKILL before and after every call that touches files", kills),
        "R6.order": ("fsync, rename, fsync of the folder, in this order", order_of_calls),
        "R7.refusals": ("every call refused: full disks, failing devices, no descriptors", refused_calls),
        "R7.harmless": ("short reads and writes, and EINTR, at every call", harmless_calls),
        "R8.allocations": ("the n-th allocation fails, for every n", failing_allocations),
        "R20.strays": ("no file and no socket but what was asked for", strays),
    }
