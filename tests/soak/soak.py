#!/usr/bin/env python3
"""Attacks the tools, one part per promise of docs/reliability.md, and records what was seen.

Usage: soak.py --build DIR [PART...] [--minutes N | --seconds N] [--hours N] [--jobs N] [--record FILE] [--state DIR]
       soak.py --list
       soak.py --summary --record FILE

run_scripts/measure/soak.sh calls this; its --help says what the options mean.
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import coverage
import crowds
import faults
import forecasts
import fuzzing
import limits
import mutants
import results
import sanitized
import summary
from common import Finding, NotHere, Stopped

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Soak:
    """What a part needs: the tools, a scratch folder, a clock, random numbers, and a memory of its own."""

    def __init__(self, options, part, seconds):
        self.build = pathlib.Path(options.build).resolve()
        self.tools = self.build / "tools"
        self.root = ROOT
        self.deadline = None
        self.seconds = seconds
        self.jobs = options.jobs
        self.state = pathlib.Path(options.state or self.build / "soak").resolve() / part
        self.state.mkdir(parents=True, exist_ok=True)
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="csrkit-soak.", dir=shared))
        self.round = self.recall("rounds", 0) + 1
        self.keep("rounds", self.round)
        self.chance = random.Random(f"{part} {self.round}")
        self.counts = {}
        self.environment = dict(os.environ, PATH=f"{self.tools}:{os.environ['PATH']}", LC_ALL="C", OMP_NUM_THREADS="2",
                                OMP_WAIT_POLICY="passive", SOURCE_DATE_EPOCH="0")

    def has_time(self):
        """The clock starts at the first call: a slow machine that has just made its inputs tests as long as any other."""
        if self.deadline is None:
            self.deadline = time.monotonic() + self.seconds
        return time.monotonic() < self.deadline

    def count(self, name, more=1):
        self.counts[name] = self.counts.get(name, 0) + more

    def recall(self, name, default):
        file = self.state / f"{name}.json"
        return json.loads(file.read_text()) if file.exists() else default

    def keep(self, name, value):
        file = self.state / f"{name}.json"
        file.with_suffix(".new").write_text(json.dumps(value))
        file.with_suffix(".new").replace(file)

    def keep_file(self, path):
        """A copy of a finding that outlives the scratch folder."""
        kept = self.state / "findings"
        kept.mkdir(exist_ok=True)
        target = kept / f"{len(list(kept.iterdir())) + 1}-{pathlib.Path(path).name}"
        shutil.copy(path, target)
        return target

    def run(self, command, folder=None, timeout=120, **settings):
        """A command in the scratch folder; its code (negative: a signal), and what it said."""
        environment = dict(self.environment, **settings.pop("environment", {}))
        try:
            done = subprocess.run([str(word) for word in command], cwd=folder or self.scratch, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=timeout, **settings)
        except subprocess.TimeoutExpired as late:
            raise Finding(f"no end after {timeout} s: {' '.join(map(str, command))}") from late
        return done.returncode, done.stdout, done.stderr

    def succeed(self, command, **settings):
        code, out, said = self.run(command, **settings)
        if code != 0:
            raise Finding(f"code {code} of {' '.join(map(str, command))}: {said[-500:]!r}")
        return out


def all_parts(options):
    """name -> (what it does, the function that does it)"""
    parts = {}
    for module in (fuzzing, faults, limits, forecasts, crowds, results, sanitized, mutants, coverage):
        parts.update(module.parts(pathlib.Path(options.build).resolve()))
    return parts


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return done.stdout.strip()


def commit():
    """Of the sources; "-dirty" if any of them differ from it. The records, which every part adds to, are none."""
    found = git("describe", "--always", "--abbrev=12", "--exclude=*")
    is_changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/results/soak", ":!docs/reliability.md")
    return (found or "unknown") + ("-dirty" if is_changed else "")


def without_folders(text, soak):
    """Findings name files from the project's root, and scratch files by their own names."""
    for folder, name in ((soak.state, "STATE"), (soak.scratch, "."), (soak.build, "BUILD"), (ROOT, ".")):
        text = text.replace(str(folder), name)
    return text.replace(sys.prefix, "PYTHON")


def run_part(name, function, options, seconds):
    soak = Soak(options, name, seconds)
    begin = time.monotonic()
    record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(),
              "part": name, "verdict": "passed"}
    stopped = False
    try:
        function(soak)
    except Finding as finding:
        record["verdict"] = "failed"
        record["finding"] = without_folders(str(finding), soak)[:2000]
    except NotHere as reason:
        record["verdict"] = "not run"
        record["reason"] = str(reason)
    except Stopped:
        record["verdict"] = "stopped"
        stopped = True
    except Exception:  # an error of this program is no success of what it tests
        record["verdict"] = "failed"
        record["finding"] = without_folders(traceback.format_exc(), soak)[-2000:]
    finally:
        shutil.rmtree(soak.scratch, ignore_errors=True)
    record["seconds"] = round(time.monotonic() - begin, 1)
    record["counts"] = soak.counts
    return record, stopped


def write_record(record, path):
    line = json.dumps(record)
    print(line, flush=True)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())


def stop(*_):
    raise Stopped


def main():
    parser = argparse.ArgumentParser(prog="soak.py", add_help=False)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--build", default="build/ci")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record")
    parser.add_argument("--state")
    options = parser.parse_args()
    known = all_parts(options)
    if options.list:
        for name, (text, _) in known.items():
            print(f"{name:18} {text}")
        return 0
    if options.summary:
        summary.update(ROOT / "docs" / "reliability.md", summary.read_records(options.record), known)
        return 0
    for name in options.parts:
        if name not in known:
            print(f"soak.sh: error: there is no part '{name}'; --list shows them", file=sys.stderr)
            return 2
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    seconds = options.seconds or 60 * (options.minutes or 10)
    end = time.monotonic() + 3600 * options.hours if options.hours else None
    failed = []
    while True:
        for name in options.parts or known:
            if end and time.monotonic() > end:
                break
            record, stopped = run_part(name, known[name][1], options, seconds)
            write_record(record, options.record)
            if record["verdict"] == "failed":
                failed.append(name)
            if stopped:
                return 1 if failed else 143
        if not end or time.monotonic() > end:
            break
    if failed:
        print(f"soak.sh: failed: {' '.join(sorted(set(failed)))}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
