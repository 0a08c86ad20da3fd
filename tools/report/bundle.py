"""Reads what was measured, and puts it in the order of the report."""
from __future__ import annotations

import contextlib
import difflib
import json
import os
import pathlib
import re
import stat
from typing import Any, BinaryIO, Callable, Iterator, Optional

from report import json_reader
from report.case import RENAMED, Case, Failure, are_comparable, failure_of, is_vendor
from report.command_line import InputError, UsageError
from report.coverage import Plan, Problem, operation_of
from report.json_reader import Field
from report.profile import Roof, roofs_of
from report.solves import Solve, is_solve, solves_of

KNOWN_SCHEMAS = (1, 2)  # of records; tools/bench/record_schema.cpp knows the same
LEAST_RATE = 1e-15  # GFLOP/s; pictures of schedules have a logarithmic scale
# What of a case says how well it was measured, not what: a later record replaces an earlier one.
HOW_OFTEN = ("warmup", "repeat", "median_within", "max_repeat", "seed")
Say = Callable[[str, str], None]



class Bundle:
    def __init__(self) -> None:
        self.cases: list[Case] = []              # the last record of each
        self.failures: list[Failure] = []
        self.throttled: list[str] = []           # names of cases
        self.disturbed: list[str] = []           # names of cases, and what else ran
        self.orders: dict[str, float] = {}       # file name of a reordered matrix -> seconds that csr-reorder took
        self.searches: list[dict[str, Any]] = []   # records of grid searches
        self.schedules: list[dict[str, Any]] = []  # records of a study of OpenMP schedules
        self.solves: list[Solve] = []            # right-hand sides
        self.machines: list[tuple[dict[str, Any], list[str]]] = []  # (facts, command lines)
        self.plans: list[Plan] = []
        self.problems: list[Problem] = []
        self.roofs: list[Roof] = []
        self.cut: list[str] = []                 # last lines that were cut short
        self.kernel = self.against = ""

    def kernels(self) -> list[str]:
        return list(dict.fromkeys(case.kernel for case in self.cases))

    def find(self, like: Case, kernel: str) -> Optional[Case]:
        for case in self.cases:
            if case.kernel == kernel and case.digest == like.digest and are_comparable(case, like):
                return case
        return None

    def matrices(self) -> int:
        """Data sets: the orders of a matrix are no matrices of their own."""
        return len({case.base_digest or case.digest for case in self.cases})


def read(paths: list[str], kernel: str, against: str, say: Say) -> Bundle:
    bundle = Bundle()
    last: dict[str, Field] = {}
    for path in paths:
        for place, item in items_of(path, bundle.cut, say):
            add(bundle, last, place, item)
    for record in last.values():
        if record["status"].text() != "done":
            bundle.failures.append(failure_of(record))
            continue
        case = Case(record)
        bundle.cases.append(case)
        if case.was_throttled:
            bundle.throttled.append(failure_of(record).name)
        if case.beside:
            bundle.disturbed.append(f"{failure_of(record).name} ({case.beside})")
    name_by_origin(bundle)
    if not (bundle.cases or bundle.searches or bundle.schedules or bundle.plans or bundle.solves):
        raise InputError(f"{paths[0]}:1: expected records of csr-bench with status done, found none")
    choose_kernels(bundle, kernel, against)
    return bundle


def name_by_origin(bundle: Bundle) -> None:
    """A reordered matrix stands under the name of the one that it was made of."""
    origins = {case.digest: case.dataset for case in bundle.cases if not case.order}
    for case in bundle.cases:
        if case.order:
            case.dataset = origins.get(case.base_digest, case.dataset.partition(".")[0])


def cut_name(path: str, number: int, line: bytes) -> str:
    """Names a record by what is left of it."""
    matrix = re.search(rb'"matrix":"([^"]*)"', line)
    kernel = re.search(rb'"kernel":"([^"]*)"', line)
    cols = re.search(rb'"dense_cols":([0-9]+)', line)
    known = [found[1].decode(errors="replace") for found in (matrix, kernel) if found]
    known += [f"K {cols[1].decode()}"] if cols else []
    return f"{path}:{number}: the last line was cut short" + (f" ({', '.join(known)})" if known else "")


def items_of(path: str, cut: list[str], say: Say) -> Iterator[tuple[str, Any]]:
    """(place, value) of every record: of a file that is one document, else of its lines."""
    with open_regular(path) as file:
        head = file.read(json_reader.MAX_BYTES + 1)
        if len(head) <= json_reader.MAX_BYTES:
            try:
                whole = json_reader.parse(head)
                yield from ((f"{path}:1", item) for item in (whole if isinstance(whole, list) else [whole]))
                return
            except json_reader.NotJson:
                pass
        file.seek(0)
        number = 0
        while line := file.readline(json_reader.MAX_BYTES + 2):
            number += 1
            if not line.strip():
                continue
            try:
                yield f"{path}:{number}", json_reader.parse(line.removesuffix(b"\n"))
            except json_reader.NotJson as error:
                is_cut = not line.endswith(b"\n") and len(line) <= json_reader.MAX_BYTES and line.startswith(b"{")
                if is_cut:  # csr-bench --resume makes it again
                    cut.append(cut_name(path, number, line))
                    say("warning", f"{cut[-1]}; it is left out")
                    continue
                raise InputError(f"{path}:{number}: {error}; name files that csr-bench --records or csr-reorder --json "
                                 "wrote") from error


@contextlib.contextmanager
def open_regular(path: str) -> Iterator[BinaryIO]:
    """Opens without waiting: a pipe that nobody writes to would block for ever. A read that fails names the file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        found = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; save its content in a file first"
        raise OSError(0, f"expected a regular file, found {found}", path)
    with os.fdopen(descriptor, "rb") as file:
        try:
            yield file
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error


def add(bundle: Bundle, last: dict[str, Field], place: str, item: Any) -> None:
    field = Field(item, place)
    if not isinstance(item, dict):
        field.refuse("a record (a JSON object)")
    if "case" in item and "status" in item:
        add_record(bundle, last, field)
    elif "order_seconds" in item and "output" in item:
        bundle.orders[pathlib.PurePath(field["output"].text()).name] = field["order_seconds"].seconds()
    elif "plan" in item:
        bundle.plans.append(Plan.read(field))
    elif "problem" in item:
        bundle.problems.append(Problem.read(field))
    elif item.get("format") == "csrkit machine profile":
        bundle.roofs += roofs_of(field)
    elif is_solve(item):
        bundle.solves += solves_of(field)
    elif "schedule" in item and {"matrix", "kernel", "dense_cols", "threads", "gflops"} <= item.keys():
        add_schedule(bundle, field)
    elif isinstance(item.get("seconds"), list) and "matrix" in item:
        field["matrix"].text()
        field.optional("kernel", Field.text)
        for seconds in field["seconds"].elements():
            seconds.number(json_reader.LEAST_SECONDS, json_reader.MOST_SECONDS)
        bundle.searches.append(item)
    else:
        field.refuse("a record of csr-bench, a report of csr-reorder or csr-solve-* --json, a machine profile of csr-probe, a "
                     "plan of submit.sh, a record of a grid search or of a study of schedules")


def add_record(bundle: Bundle, last: dict[str, Field], field: Field) -> None:
    schema = field["schema"]
    if schema.value not in KNOWN_SCHEMAS or isinstance(schema.value, bool):
        schema.refuse(f"schema {KNOWN_SCHEMAS[0]} to {KNOWN_SCHEMAS[-1]}")  # keys of another may mean another thing
    failure_of(field)  # checks the names
    case = field.value["case"]
    case["kernel"] = RENAMED.get(case["kernel"], case["kernel"])
    last[json.dumps({key: value for key, value in case.items() if key not in HOW_OFTEN})] = field
    machine = field.find("machine")
    if not machine:
        return
    facts = dict(machine.object())
    machine.optional("gpu", Field.object)
    facts.pop("slurm_job", None)
    command = " ".join(field.optional("command_line", Field.texts) or [])
    for known, commands in bundle.machines:
        if known == facts:
            if command not in commands:
                commands.append(command)
            return
    bundle.machines.append((facts, [command]))


def add_schedule(bundle: Bundle, field: Field) -> None:
    for name in ("matrix", "kernel"):
        field[name].text()
    for name in ("dense_cols", "threads"):
        field[name].integer(1)
    field["gflops"].number(LEAST_RATE)
    field.optional("schedule", Field.text)
    field.optional("chunk", Field.integer)
    bundle.schedules.append(field.value)


def choose_kernels(bundle: Bundle, kernel: str, against: str) -> None:
    names = bundle.kernels()
    for wanted in (kernel, against):
        if wanted and wanted not in names:
            close = difflib.get_close_matches(wanted, names, 1)
            hint = f"did you mean {close[0]}? There are" if close else "there are"
            raise UsageError(f"no record is of {wanted}; {hint} {', '.join(names)}")
    first = [name for name in ("gpu.spmm.auto", "cpu.spmm.auto", "gpu.spgemm.auto", "cpu.spgemm.auto")
             if name in names] or names[:1] or [""]
    bundle.kernel = kernel or first[0]
    room = bundle.kernel.rpartition(".")[0]
    # Times of another operation would say nothing; who wants them compared names both.
    others = [name for name in names
              if name != bundle.kernel and operation_of(name) == operation_of(bundle.kernel)]
    others.sort(key=lambda name: (not is_vendor(name), not name.startswith(room + "."), not name.endswith(".row_loop")))
    bundle.against = against or (others or [""])[0]
