"""What the tables and figures show, row by row."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Optional

from report.bundle import Bundle
from report.case import Case, Failure, Setting, are_comparable
from report.compare import LEVEL, UNSETTLED, Mean, PayBack, Ratio, is_settled, mean_of, pay_back, ratio_of
from report.coverage import cell_of

FAILED = "failed"


@dataclass(frozen=True)
class Row:
    """A matrix and setting: our case beside the other's. One that failed has a row, too."""
    matrix: str  # with what it stands for
    order: str
    nnz: Optional[int]
    setting: Setting
    place: str  # of our kernel
    ours: Optional[Case]
    other: Optional[Case]
    ratio: Optional[Ratio]
    verdict: str
    note: str = ""

    @property
    def label(self) -> str:
        parts = [self.matrix, "" if self.order == "natural" else self.order, self.setting.how]
        return ", ".join(part for part in parts if part)


def rows_of(bundle: Bundle) -> list[Row]:
    rows = []
    for ours in bundle.cases:
        if ours.kernel != bundle.kernel:
            continue
        other = bundle.find(ours, bundle.against) if bundle.against else None
        broken = next((f for f in bundle.failures if f.kernel == bundle.against and f.digest == ours.digest
                       and are_comparable(f, ours)), None)
        rows.append(row_of(ours, other, broken))
    rows += [failed_row(bundle, failure) for failure in bundle.failures if failure.kernel == bundle.kernel]
    return rows


def row_of(ours: Case, other: Optional[Case], broken: Optional[Failure]) -> Row:
    ratio = ratio_of(ours, other) if other else None
    verdict = ratio.verdict if ratio else ""
    notes = [f"{case.kernel}: " + (f"+- {case.width_percent:.0f} %" if len(case.samples) > 1 else "one sample")
             for case in (ours, other) if case and not is_settled(case)]
    beside = dict.fromkeys(case.beside for case in (ours, other) if case and case.beside)
    notes += [f"measured beside {', then '.join(beside)}"] if beside else []
    if broken and not other:
        verdict, notes = FAILED, [f"{broken.kernel}: {broken.reason}"]
    return Row(ours.title, ours.order or "natural", ours.nnz, ours.setting, ours.place.text, ours, other, ratio, verdict,
               "; ".join(notes))


def failed_row(bundle: Bundle, failure: Failure) -> Row:
    cell = cell_of(failure)
    known = next((case for case in bundle.cases if case.digest == failure.digest), None)
    return Row(known.title if known else cell.dataset, cell.order, known.nnz if known else None, failure.setting,
               failure.place.text, None, None, None, FAILED, failure.reason)


def compared(rows: list[Row]) -> list[Row]:
    """What counts in a mean: natural order, since the orders of a matrix are not more matrices."""
    natural = [row for row in rows if row.ratio and row.order == "natural"]
    return natural or [row for row in rows if row.ratio]


def means_of(rows: list[Row]) -> dict[int, Mean]:
    """{K: mean of the settled cases in natural order}"""
    groups: dict[int, list[Row]] = {}
    for row in compared(rows):
        groups.setdefault(row.setting.dense_cols, []).append(row)
    means = {k: mean_of(row.ratio for row in groups[k] if row.ratio) for k in sorted(groups)}
    return {k: mean for k, mean in means.items() if mean}


def overall_mean(rows: list[Row]) -> Optional[Mean]:
    return mean_of(row.ratio for row in compared(rows) if row.ratio)


@dataclass(frozen=True)
class OrderRow:
    """What one order cost and brought our kernel."""
    matrix: str
    order: str
    setting: Setting
    place: str
    cost_seconds: Optional[float]
    before: Optional[Case]
    after: Case
    gain: Optional[Ratio]
    verdict: str
    pays_after: Optional[PayBack]


def order_rows(bundle: Bundle) -> Iterator[OrderRow]:
    for case in bundle.cases:
        if case.kernel != bundle.kernel or not case.order:
            continue
        before = next((c for c in bundle.cases if c.digest == case.base_digest and c.kernel == case.kernel
                       and are_comparable(c, case)), None)
        cost = bundle.orders.get(case.matrix.rpartition("/")[2], case.order_seconds or None)
        gain = ratio_of(case, before) if before else None
        verdict = gain.verdict if gain else ""
        pays = pay_back(cost, before, case) if cost is not None and before else None
        yield OrderRow(case.title, case.order, case.setting, case.place.text, cost, before, case, gain, verdict, pays)


def is_grey(verdict: str) -> bool:
    """No gain and no loss that the samples can tell."""
    return verdict in (LEVEL, UNSETTLED)


def schedule_text(record: dict[str, Any]) -> str:
    chunk = record.get("chunk")
    return f"{record['schedule']} {chunk}" if chunk else record["schedule"]


ScheduleGroup = tuple[dict[str, dict[str, float]], dict[str, float]]


def schedule_groups(bundle: Bundle) -> dict[tuple[str, int, int], ScheduleGroup]:
    """{(matrix, K, threads): ({kernel: {schedule: GFLOP/s}}, {kernel without a schedule: GFLOP/s})}"""
    groups: dict[tuple[str, int, int], ScheduleGroup] = {}
    for record in bundle.schedules:
        matrix = str(record["matrix"]).rpartition("/")[2].removesuffix(".csr")
        shared, plain = groups.setdefault((matrix, record["dense_cols"], record["threads"]), ({}, {}))
        kernel = record["kernel"].rpartition(".")[2]
        if record["schedule"]:
            shared.setdefault(kernel, {})[schedule_text(record)] = record["gflops"]
        else:
            plain[kernel] = record["gflops"]
    return groups


@dataclass(frozen=True)
class ScheduleRow:
    """The best and the worst schedule of a kernel, and how often faster than the naive loops it is."""
    matrix: str
    dense_cols: int
    threads: int
    kernel: str
    best: str
    gflops: float
    worst: str
    lost_percent: Optional[float]
    over_naive: Optional[float]


def schedule_rows(bundle: Bundle) -> Iterator[ScheduleRow]:
    groups = schedule_groups(bundle)
    for (matrix, k, threads), (shared, plain) in groups.items():
        naive = next((of["naive"] for key, (_, of) in groups.items() if key[:2] == (matrix, k) and "naive" in of), None)
        for kernel, speeds in [*shared.items(), *((name, {"-": speed}) for name, speed in plain.items())]:
            best, worst = max(speeds, key=speeds.__getitem__), min(speeds, key=speeds.__getitem__)
            several = len(speeds) > 1
            yield ScheduleRow(matrix, k, threads, kernel, best, speeds[best], worst if several else "-",
                              100 * (1 - speeds[worst] / speeds[best]) if several else None,
                              speeds[best] / naive if naive else None)
