"""What a run was asked for, and what of it is there: a plan is kept by submit.sh, problems by its steps."""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from report.case import Case, Failure, stem_of
from report.json_reader import Field
from report.printable import counted

if TYPE_CHECKING:
    from report.bundle import Bundle

HAVE_WIDTHS = ("spmm", "sddmm")  # operations that csr-bench measures for every K of -k


class Cell(NamedTuple):
    """One case of a plan. `kernel` is in the words of csr-bench --kernels: cpu.auto."""
    dataset: str
    order: str
    kernel: str
    dense_cols: int


@dataclass(frozen=True)
class Plan:
    """Data sets x orders x kernels x K, and the command that makes what is missing."""
    command: str
    datasets: list[str]
    orders: list[str]
    kernels: list[str]
    dense_cols: list[int]

    @staticmethod
    def read(field: Field) -> Plan:
        field["plan"].integer(1, 1)
        return Plan(field["command"].text(), field["datasets"].texts(), field["orders"].texts(), field["kernels"].texts(),
                    [cols.integer(1) for cols in field["dense_cols"].elements()])

    def cells(self) -> list[Cell]:
        return [Cell(dataset, order, kernel, cols)
                for dataset, order, kernel in itertools.product(self.datasets, self.orders, self.kernels)
                for cols in (self.dense_cols if operation_of(kernel) in HAVE_WIDTHS else [0])]


@dataclass(frozen=True)
class Problem:
    """Why a step left something out, and the line that mends it."""
    dataset: str
    order: str
    reason: str
    mend: str

    @staticmethod
    def read(field: Field) -> Problem:
        field["problem"].integer(1, 1)
        return Problem(*(field[name].text() for name in ("dataset", "order", "reason", "mend")))


@dataclass
class Missing:
    """Cells that are missing for one reason."""
    cells: list[Cell]
    reason: str
    mend: str

    @property
    def title(self) -> str:
        first = self.cells[0]
        names = list(dict.fromkeys(cell.dataset for cell in self.cells))
        orders = {cell.order for cell in self.cells}
        order = f", {first.order}" if len(orders) == 1 and first.order != "natural" else ""
        return ", ".join(names) + order


@dataclass(frozen=True)
class Coverage:
    asked: int
    done: int
    missing: list[Missing]

    @property
    def is_whole(self) -> bool:
        return self.done == self.asked

    def datasets_missing(self) -> list[str]:
        """Data sets of which something is missing."""
        return sorted({cell.dataset for gap in self.missing for cell in gap.cells})

    def text(self) -> str:
        if self.is_whole:
            return "the one case that was asked for" if self.asked == 1 else f"all {self.asked} cases that were asked for"
        sets = len(self.datasets_missing())
        return f"{self.done} of {counted(self.asked, 'case', 'cases')}, {sets} data set{'s' if sets != 1 else ''} incomplete"


def operation_of(kernel: str) -> str:
    parts = kernel.split(".")
    return parts[1] if len(parts) > 2 else "spmm"


def short_name(kernel: str) -> str:
    """cpu.spmm.auto as csr-bench --kernels may name it: cpu.auto; other operations keep theirs."""
    return kernel.replace(".spmm.", ".", 1)


def cell_of(case: Case | Failure) -> Cell:
    """By the name of the file: <data set>.<order>.csr"""
    dataset, _, order = stem_of(case.matrix).partition(".")
    cols = case.dense_cols if operation_of(case.kernel) in HAVE_WIDTHS else 0
    return Cell(dataset, order or "natural", short_name(case.kernel), cols)


def coverage_of(bundle: Bundle) -> Coverage | None:
    """None where no plan was kept."""
    if not bundle.plans:
        return None
    commands: dict[Cell, str] = {}
    for plan in bundle.plans:
        for cell in plan.cells():
            commands[cell._replace(kernel=short_name(cell.kernel))] = plan.command
    done = {cell_of(case) for case in bundle.cases}
    failed = {cell_of(failure): failure.reason for failure in bundle.failures}
    problems = {(problem.dataset, problem.order): problem for problem in bundle.problems}
    gaps: dict[tuple[str, str, str], Missing] = {}
    for cell, command in commands.items():
        if cell in done:
            continue
        problem = problems.get((cell.dataset, "natural")) or problems.get((cell.dataset, cell.order))
        reason, mend = ((problem.reason, problem.mend or command) if problem else
                        (f"{cell.kernel} failed: {failed[cell]}", command) if cell in failed else
                        ("not measured yet", command))
        shared_by = problem.dataset if problem else cell.dataset if cell in failed else ""
        gaps.setdefault((shared_by, reason, mend), Missing([], reason, mend)).cells.append(cell)
    return Coverage(len(commands), len(commands.keys() & done), list(gaps.values()))
