"""Pictures of matrices: how long rows are, where the nonzeros lie."""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Callable, Iterator

from report.bundle import Bundle, Say
from report.case import Case
from report.chart import Chart, around
from report.command_line import lacks_memory
from report.figure import Figure, slug
from report.png import COLOURS, data_address, png

PIXELS = 192  # of a spy plot's longer side
MOST_POINTS = 60  # of a line of row lengths
# From few to many nonzeros; the first is "none". Steps of viridis (Smith and van der Walt), dark is dense.
STOPS = ((0xfd, 0xe7, 0x25), (0x7a, 0xd1, 0x51), (0x22, 0xa8, 0x84), (0x2a, 0x78, 0x8e), (0x41, 0x44, 0x87), (0x44, 0x01, 0x54))


def palette() -> list[tuple[int, int, int]]:
    colours = [(255, 255, 255)]
    for i in range(COLOURS - 1):
        at = i * (len(STOPS) - 1) / (COLOURS - 2)
        low = min(int(at), len(STOPS) - 2)
        red, green, blue = (round(a + (b - a) * (at - low)) for a, b in zip(STOPS[low], STOPS[low + 1]))
        colours.append((red, green, blue))
    return colours


@dataclass(frozen=True)
class Drawn:
    """What is kept of a matrix once its file is closed: shares of nonzeros, and how many rows are at least so long."""
    case: Case
    shares: list[list[float]]
    lengths: list[tuple[int, int]]


def matrices_of(bundle: Bundle, say: Say) -> Iterator[Drawn]:
    """Every measured matrix that is still where it was."""
    from report.csr_reader import CsrArrays
    seen = set()
    for case in bundle.cases:
        if case.digest in seen:
            continue
        seen.add(case.digest)
        places = (case.matrix, os.path.join(case.folder, case.matrix))
        path = next((place for place in places if os.path.isfile(place)), None)
        if path is None:
            say("warning", f"{case.matrix}: not found; it is left out of the pictures")
            continue
        try:
            arrays = CsrArrays(path)
            arrays.check()
        except (OSError, ValueError) as error:
            if lacks_memory(error):
                raise
            say("warning", f"{error}; it is left out of the pictures")
            continue
        if (arrays.rows, arrays.cols, arrays.nnz) != (case.rows, case.cols, case.nnz):
            say("warning", f"{path}: not the matrix that was measured; it is left out of the pictures")
            continue
        yield Drawn(case, shares_of(arrays), lengths_of(arrays))


def shares_of(arrays) -> list[list[float]]:
    """Which share of the places in each cell of a grid holds a nonzero."""
    longer = max(arrays.rows, arrays.cols, 1)
    height, width = (max(1, round(PIXELS * size / longer)) for size in (arrays.rows, arrays.cols))
    counts = arrays.density(height, width)
    area = arrays.rows / counts.shape[0] * arrays.cols / counts.shape[1]
    return (counts / max(area, 1e-300)).tolist()


def lengths_of(arrays) -> list[tuple[int, int]]:
    """(length, rows at least so long), ascending, few enough to draw."""
    import numpy
    lengths = numpy.sort(arrays.row_lengths())
    if not lengths.size or lengths[-1] < 1:
        return []
    marks = numpy.unique(numpy.geomspace(1, lengths[-1], MOST_POINTS).round().astype(numpy.int64))
    rows = lengths.size - numpy.searchsorted(lengths, marks, "left")
    return list(zip(marks.tolist(), rows.tolist()))


def row_lengths(drawn: list[Drawn]) -> Iterator[Figure]:
    for of in drawn:
        case = of.case
        if case.order or not of.lengths:
            continue
        mean = case.nnz / max(case.rows, 1)

        def draw(width: float, of: Drawn = of, mean: float = mean) -> Chart:
            chart = Chart(width, 190, top=24)
            chart.axes(around([length for length, _ in of.lengths], log=True),
                       around([rows for _, rows in of.lengths if rows], log=True), "row length (nonzeros)",
                       "rows at least so long")
            if mean >= chart.x.low:
                chart.line([(chart.x(mean), chart.top), (chart.x(mean), chart.bottom)], "dashed")
            chart.line([(chart.x(length), chart.y(rows)) for length, rows in of.lengths if rows], "s0")
            return chart
        yield Figure("row lengths", f"row-lengths-{slug(case.title)}", case.title,
                     f"{case.title}: how many rows are at least so long. Longest {of.lengths[-1][0]:,}; dashed: the mean, "
                     f"{mean:,.1f}.", draw, is_small=True)


def level_of(low: float) -> Callable[[float], int]:
    """The place in the palette of a share: 0 for none, then evenly by the logarithm from `low` to 1."""
    span = math.log(1 / low)

    def level(share: float) -> int:
        if share <= 0:
            return 0
        return 1 + min(COLOURS - 2, max(0, int((1 - math.log(1 / min(share, 1.0)) / span) * (COLOURS - 1))))
    return level


def spy(drawn: list[Drawn]) -> Iterator[Figure]:
    """Natural order first, then what it was reordered to; one scale for all, so that they compare."""
    shares = [share for of in drawn for row in of.shares for share in row if share > 0]
    low = min([*shares, 0.1])
    level = level_of(low)
    order = {title: i for i, title in enumerate(dict.fromkeys(of.case.title for of in drawn))}
    for of in sorted(drawn, key=lambda of: (order[of.case.title], bool(of.case.order))):
        case = of.case
        title = f"{case.title}: {case.order or 'natural order'}"
        picture = data_address(png([[level(share) for share in row] for row in of.shares], palette()))

        def draw(width: float, of: Drawn = of, picture: str = picture) -> Chart:
            chart = Chart(width, width, left=4, right=4, top=4, bottom=22)
            height, across = len(of.shares), len(of.shares[0])
            size = min(chart.right - chart.left, chart.bottom - chart.top) / max(height, across)
            chart.image(chart.left, chart.top, across * size, height * size, picture)
            chart.box(chart.left, chart.top, across * size, height * size, "frame")
            chart.text(chart.left, chart.height - 6, f"{of.case.rows:,} x {of.case.cols:,}", style="axis")
            return chart
        yield Figure("spy plots", f"spy-{slug(title)}", title,
                     f"{title}. Where the nonzeros are; white: none, dark: dense; one scale for all, from {low:.2g} to 1 of "
                     "the places.", draw, is_small=True)
