"""Reports of csr-solve-cpu and csr-solve-gpu: the residual norms of every iteration as figures."""
from __future__ import annotations

import math
import pathlib
import sys
from typing import TYPE_CHECKING, Iterator

from report.case import Place, apart, kernel_title
from report.chart import Chart, Scale, around
from report.figure import Figure, slug
from report.json_reader import Field
from report.printable import counted

if TYPE_CHECKING:
    from report.bundle import Bundle

MOST_LINES, MOST_POINTS = 8, 500  # of a figure; of a line
LEAST_NORM = 1e-300  # below it a norm is 0 for a logarithmic scale
MOST_NORM = sys.float_info.max  # a system has any units


def is_solve(item: dict) -> bool:
    return "residual_history" in item and "iterations" in item


class Solve:
    """One right-hand side of a report, norms relative to that of b."""

    def __init__(self, report: Field, column: int) -> None:
        fate = report["columns"].elements()[column]
        self.matrix = pathlib.PurePath(report["matrix"].text()).name.removesuffix(".csr")
        preconditioner, precision = report["preconditioner"].text(), report["precision"].text()
        self.label = kernel_title(report["kernel"].text()) + "".join(
            f", {word}" for word in (precision, preconditioner) if word not in ("f64", "none"))
        if column > 0:
            self.label += f", b {column}"
        self.place = Place(report)  # reports of earlier versions do not say it
        self.status = fate["status"].text()
        size = norm_in(fate["rhs_norm"]) or 1
        self.target = norm_in(fate["target_norm"]) / size
        self.norms = [norm_in(row.elements()[column]) / size for row in report["residual_history"].elements()]


def norm_in(field: Field) -> float:
    """A norm that is no number, as squares overflowed, is null in JSON."""
    return math.nan if field.value is None else field.number(0, MOST_NORM)


def solves_of(report: Field) -> list[Solve]:
    columns = len(report["columns"].elements())
    for row in report["residual_history"].elements():
        if len(row.elements()) != columns:
            row.refuse(f"{counted(columns, 'number', 'numbers')}, one for each right-hand side")
    return [Solve(report, column) for column in range(columns)]


def titles_of(solves: list[Solve]) -> list[str]:
    """Labels; equal ones of several places say theirs, machine or threads."""
    titles = []
    for solve in solves:
        where = apart(solve.place, [other.place for other in solves if other.label == solve.label])
        titles.append(solve.label + (f", {where}" if where and solve.place.cpu else ""))
    return titles


def points_of(solve: Solve) -> list[tuple[float, float]]:
    """(iteration, norm), thinned out; norms that a logarithmic scale cannot show are left out."""
    step = max(1, len(solve.norms) // MOST_POINTS)
    last = len(solve.norms) - 1
    return [(i, norm) for i, norm in enumerate(solve.norms)
            if (i % step == 0 or i == last) and math.isfinite(norm) and norm > LEAST_NORM]


def histories(bundle: Bundle) -> Iterator[Figure]:
    """A chart per matrix: a line per solve, the tolerance dashed."""
    for matrix in dict.fromkeys(solve.matrix for solve in bundle.solves):
        lines = [(solve, points) for solve in bundle.solves if solve.matrix == matrix and (points := points_of(solve))]
        lines = lines[:MOST_LINES]
        if not lines:
            continue
        titles = titles_of([solve for solve, _ in lines])

        def draw(width: float, lines: list = lines, titles: list[str] = titles) -> Chart:
            # A place takes a row of the legend.
            chart = Chart(width, 320 + 16 * sum(title != solve.label for title, (solve, _) in zip(titles, lines)))
            chart.legend(titles)
            chart.top += 16
            most = max(points[-1][0] for _, points in lines)
            chart.axes(Scale(0, most or 1), around([norm for _, points in lines for _, norm in points], log=True),
                       "iterations", "|r| / |b|")
            for i, (solve, points) in enumerate(lines):
                places = [(chart.x(at), chart.y(norm)) for at, norm in points]
                if len(places) > 1:
                    chart.line(places, f"s{i}")
                at, norm = points[-1]
                chart.marker(*places[-1], i, tip=f"{titles[i]}: {solve.status} after {at} iterations, {norm:.2e}")
                if chart.y.low <= solve.target <= chart.y.high:
                    chart.line([(chart.left, chart.y(solve.target)), (chart.right, chart.y(solve.target))], "roof")
            return chart
        ends = "; ".join(f"{title}: {solve.status.replace('_', ' ')} after {points[-1][0]}"
                         for title, (solve, points) in zip(titles, lines))
        yield Figure("solves", f"solves-{slug(matrix)}", matrix,
                     f"Residual norm over the iterations, relative to the right-hand side; the tolerance as a line. {ends}.",
                     draw)
