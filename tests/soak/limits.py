"""R8: too little address space, and too few processes."""
import os
import pwd
import resource
import subprocess

from common import CASES, Finding, NotHere, left_overs, make_inputs, remove_outputs, words_of


def expect_memory_code(soak, case, what, code, said):
    if code not in (0, 5, *case.other_codes):
        raise Finding(f"{case.name}, {what}: code {code}, expected 0 or 5: {said[-400:]!r}")
    if code == 5 and b"error: " not in said:
        raise Finding(f"{case.name}, {what}: no sentence: {said[-400:]!r}")
    if code == 5 and (left_overs(soak) or any((soak.scratch / name).exists() for name in case.outputs if not case.grows)):
        raise Finding(f"{case.name}, {what}: something is left behind")
    soak.count("done" if code == 0 else "refused")


def address_space(soak):
    make_inputs(soak)
    cases = [case for case in CASES if not case.is_python]
    smallest = {}
    while soak.has_time():
        case = soak.chance.choice(cases)
        # Below what the program itself needs nothing can be said: the loader ends it.
        if case.command[0] not in smallest:
            limit = 8 << 20
            while subprocess.run([soak.tools / case.command[0], "--version"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, check=False,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))).returncode:
                limit += 2 << 20
            smallest[case.command[0]] = limit
        limit = smallest[case.command[0]] + soak.chance.randrange(200 << 20)
        remove_outputs(soak)
        code, _, said = soak.run(words_of(soak, case), environment={"OMP_NUM_THREADS": "4"},
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        expect_memory_code(soak, case, f"{limit >> 10} KiB", code, said)


def processes(soak):
    """The limit does not bind root, so root becomes nobody."""
    make_inputs(soak)
    user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else os.getuid()
    if os.getuid() == 0:
        for path in (soak.scratch, *soak.scratch.iterdir()):
            os.chown(path, user, -1)
    running = sum(os.stat(f"/proc/{name}").st_uid == user for name in os.listdir("/proc") if name.isdigit()
                  and os.path.exists(f"/proc/{name}"))
    if running > 50:
        raise NotHere("the user has other processes: a limit would hit them")

    def few(count):
        def restrict():
            resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(user)
        return restrict

    cases = [case for case in CASES if not case.is_python]
    while soak.has_time():
        case = soak.chance.choice(cases)
        count = running + soak.chance.randrange(1, 9)
        remove_outputs(soak)
        code, _, said = soak.run(words_of(soak, case), environment={"OMP_NUM_THREADS": "8"}, preexec_fn=few(count))
        expect_memory_code(soak, case, f"{count} processes", code, said)
    if not soak.counts.get("refused"):
        raise Finding("the limit never bound: the part tests nothing")


def parts(_build):
    return {
        "R8.address-space": ("too little address space, at random limits", address_space),
        "R8.processes": ("too few processes for the team of threads", processes),
    }
