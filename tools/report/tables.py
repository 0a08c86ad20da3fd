"""Tables as columns over rows: the same ones for the page and for Markdown. A column has one unit."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Callable, Optional, Sequence, Union

from report.bundle import Bundle
from report.case import is_vendor, kernel_title
from report.compare import FASTER, LEVEL, SLOWER, UNSETTLED, Mean, PayBack, Ratio
from report.coverage import Coverage
from report.printable import counted, printable
from report.rows import is_grey, means_of, order_rows, rows_of, schedule_rows

Value = Union[str, int, float, None]


@dataclass(frozen=True)
class Column:
    """`value` sorts, `text` is shown. A column that may be boring is left out where it says the same everywhere."""
    name: str
    value: Callable[[Any], Value]
    text: Optional[Callable[[Any], str]] = None
    is_text: bool = False
    may_be_boring: bool = False

    def shown(self, row: Any) -> str:
        if self.text:
            return self.text(row)
        value = self.value(row)
        return "-" if value is None or value == "" else str(value)


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: list[Any]

    def cells(self) -> list[list[str]]:
        return [[column.shown(row) for column in self.columns] for row in self.rows]


def table(columns: Sequence[Column], rows: Sequence[Any]) -> Table:
    kept = [column for column in columns
            if not column.may_be_boring or len({column.value(row) for row in rows}) > 1]
    return Table(kept, list(rows))


def width_text(k: int) -> str:
    return f"K = {k}" if k else "A times A"


def digits(value: Optional[float], count: int = 4) -> str:
    """A number with so many significant digits and no exponent: a column keeps its unit."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "never"
    decimals = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 12)}f}"


def interval_text(ratio: Optional[Ratio]) -> str:
    return f"{ratio.low:.2f} to {ratio.high:.2f}" if ratio else "-"


def products_text(pays: Optional[PayBack], verdict: str) -> str:
    """With its interval; where the gain is level or not settled, only what is certain."""
    if pays is None:
        return "-"
    low, high = (f"{math.ceil(end):,}" if math.isfinite(end) else "never" for end in (pays.low, pays.high))
    if low == "never":
        return "never"
    if is_grey(verdict) or not math.isfinite(pays.value):
        return f"not before {low}"
    return f"{math.ceil(pays.value):,} ({low} to {high})"


def k_column(of: Callable[[Any], int]) -> Column:
    return Column("K", of, lambda row: str(of(row) or "-"))


def setting_columns() -> list[Column]:
    """What tells the cases of a matrix apart."""
    return [
        k_column(lambda row: row.setting.dense_cols),
        Column("caches", lambda row: row.setting.caches, is_text=True, may_be_boring=True),
        Column("values", lambda row: row.setting.value_kind, is_text=True, may_be_boring=True),
        Column("how", lambda row: row.setting.how, is_text=True, may_be_boring=True),
        Column("on", lambda row: row.place, is_text=True, may_be_boring=True),
    ]


def names_of(bundle: Bundle) -> tuple[str, str]:
    """Whose time it is: csrkit and the vendor, or two kernels of csrkit by their names."""
    if not bundle.against or is_vendor(bundle.against):
        return "csrkit", kernel_title(bundle.against)
    return kernel_title(bundle.kernel), kernel_title(bundle.against)


def main_table(bundle: Bundle) -> Table:
    ours, other = names_of(bundle)

    def milliseconds(whose: str) -> Callable[[Any], Optional[float]]:
        return lambda row: 1e3 * getattr(row, whose).seconds if getattr(row, whose) else None

    def of_ours(read: Callable[[Any], Value]) -> Callable[[Any], Value]:
        return lambda row: read(row.ours) if row.ours else None
    rate = of_ours(lambda case: case.nnz / case.seconds / 1e9 if case.seconds else None)
    columns = [
        Column("matrix", lambda row: row.matrix, is_text=True),
        Column("order", lambda row: row.order, is_text=True, may_be_boring=True),
        Column("nnz", lambda row: row.nnz, lambda row: "-" if row.nnz is None else f"{row.nnz:,}"),
        *setting_columns(),
        Column(f"{ours} ms", milliseconds("ours"), lambda row: digits(milliseconds("ours")(row))),
    ]
    if bundle.against:
        columns += [
            Column(f"{other} ms", milliseconds("other"), lambda row: digits(milliseconds("other")(row))),
            Column("speed-up", lambda row: row.ratio and row.ratio.value,
                   lambda row: f"{row.ratio.value:.2f}" if row.ratio else "-"),
            Column("interval", lambda row: row.ratio and row.ratio.low, lambda row: interval_text(row.ratio)),
            Column("verdict", lambda row: row.verdict, is_text=True),
        ]
    columns += [
        Column("Gnnz/s", rate, lambda row: digits(rate(row), 3)),
        Column("GFLOP/s", of_ours(lambda case: case.gflops), lambda row: digits(row.ours and row.ours.gflops, 3)),
        Column("+- %", of_ours(lambda case: case.width_percent),
               lambda row: f"{row.ours.width_percent:.1f}" if row.ours else "-"),
        Column("check", of_ours(lambda case: case.check), is_text=True),
    ]
    rows = rows_of(bundle)
    if any(row.note for row in rows):
        columns.append(Column("note", lambda row: row.note, is_text=True))
    return table(columns, rows)


def order_table(bundle: Bundle) -> Table:
    return table([
        Column("matrix", lambda row: row.matrix, is_text=True),
        Column("order", lambda row: row.order, is_text=True),
        *setting_columns(),
        Column("order s", lambda row: row.cost_seconds, lambda row: digits(row.cost_seconds, 3)),
        Column("natural ms", lambda row: row.before and 1e3 * row.before.seconds,
               lambda row: digits(row.before and 1e3 * row.before.seconds)),
        Column("reordered ms", lambda row: 1e3 * row.after.seconds, lambda row: digits(1e3 * row.after.seconds)),
        Column("gain", lambda row: row.gain and row.gain.value, lambda row: f"{row.gain.value:.2f}" if row.gain else "-"),
        Column("interval", lambda row: row.gain and row.gain.low, lambda row: interval_text(row.gain)),
        Column("verdict", lambda row: row.verdict, is_text=True),
        Column("pays back after (products)", lambda row: row.pays_after and min(row.pays_after.value, 1e18),
               lambda row: products_text(row.pays_after, row.verdict)),
    ], list(order_rows(bundle)))


def schedule_table(bundle: Bundle) -> Table:
    return table([
        Column("matrix", lambda row: row.matrix, is_text=True),
        k_column(lambda row: row.dense_cols),
        Column("threads", lambda row: row.threads),
        Column("kernel", lambda row: row.kernel, is_text=True),
        Column("best schedule", lambda row: row.best, is_text=True),
        Column("GFLOP/s", lambda row: row.gflops, lambda row: digits(row.gflops, 3)),
        Column("worst schedule", lambda row: row.worst, is_text=True),
        Column("lost %", lambda row: row.lost_percent,
               lambda row: "-" if row.lost_percent is None else f"{row.lost_percent:.0f}"),
        Column("over naive", lambda row: row.over_naive,
               lambda row: "-" if row.over_naive is None else f"{row.over_naive:.2f}"),
    ], list(schedule_rows(bundle)))


def against_text(bundle: Bundle) -> str:
    """Who is compared with whom; csrkit's own kernels are a baseline."""
    if not bundle.against:
        return ""
    return kernel_title(bundle.against) if is_vendor(bundle.against) else f"csrkit's own {bundle.against} (a baseline)"


def mean_text(mean: Mean) -> str:
    """'1.82 (1.79 to 1.85) over 15 settled cases: 13 faster, 1 level, 1 slower; 2 not settled'"""
    counts = mean.counts
    if not mean.settled:
        return f"none of {counts[UNSETTLED]} case{'s' if counts[UNSETTLED] != 1 else ''} is settled"
    text = f"{mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f}) over {mean.settled} settled case"
    text += "s" if mean.settled != 1 else ""
    text += f": {counts[FASTER]} faster, {counts[LEVEL]} level, {counts[SLOWER]} slower"
    return text + (f"; {counts[UNSETTLED]} not settled" if counts[UNSETTLED] else "")


def markdown_table(of: Table) -> str:
    rule = ["---" if column.is_text else "---:" for column in of.columns]
    lines = [[markdown_escaped(column.name) for column in of.columns], rule,
             *([markdown_escaped(cell) for cell in cells] for cells in of.cells())]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def markdown_escaped(text: str) -> str:
    """Text that Markdown shows as it is: no tag, no cell, no emphasis, no link of it is obeyed."""
    return re.sub(r"([\\`*\[\]<>|~$#!&])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\\g<0>", printable(text))


def markdown_code(text: str) -> str:
    """A code span; a backtick would end it."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"


def markdown(bundle: Bundle, coverage: Optional[Coverage]) -> str:
    parts = []
    if coverage:
        text = f"{coverage.text().capitalize()}.\n"
        parts.append(text + "".join(f"\n* {markdown_escaped(gap.title)} ({counted(len(gap.cells), 'case', 'cases')}): "
                                    f"{markdown_escaped(gap.reason)}. Mend: {markdown_code(gap.mend)}"
                                    for gap in coverage.missing))
    main = main_table(bundle)
    if main.rows:
        text = f"csrkit's {markdown_code(bundle.kernel)}"
        text += f" against {markdown_escaped(against_text(bundle))}" if bundle.against else ""
        text += "\n\n" + markdown_table(main)
        means = means_of(main.rows)
        text += "\nGeometric means, natural order:\n" if means else ""
        for k, mean in means.items():
            text += f"\n* {width_text(k)}: {mean_text(mean)}."
        parts.append(text)
    parts += [markdown_table(of) for of in (order_table(bundle), schedule_table(bundle)) if of.rows]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
