"""Maps of two parameters: schedules by kernel, and grid searches."""
from __future__ import annotations

import math
import statistics
from typing import Any, Iterator, Optional

from report.bundle import Bundle
from report.chart import LETTER, Chart, short
from report.figure import Figure, slug
from report.rows import schedule_groups
from report.tables import digits, width_text

Cells = list[list[Optional[float]]]


def heat_map(width: float, columns: list[str], rows: list[str], cells: Cells, best_of: list[float]) -> Chart:
    """The stronger the colour, the larger the number, by its logarithm; a star marks the best of `best_of`."""
    name_width = min(width / 3, 8 + LETTER * max(map(len, rows)))
    is_tight = (width - name_width) / len(columns) < LETTER * max(map(len, columns)) + 6
    head = 8 + LETTER * max(map(len, columns)) if is_tight else 20
    chart = Chart(width, head + 26 * len(rows) + 6, left=name_width, right=4, top=head, bottom=6)
    known = [cell for row in cells for cell in row if cell]
    low, span = min(known), math.log(max(known) / min(known)) or 1.0
    step = (chart.right - chart.left) / len(columns)
    for j, name in enumerate(columns):
        at = chart.left + step * (j + 0.5)
        if is_tight:
            chart.parts.append(f'<g transform="translate({at + 4:.1f} {head - 6:.1f}) rotate(-90)">')
            chart.text(0, 0, name)
            chart.parts.append("</g>")
        else:
            chart.text(at, head - 6, name, "middle")
    for i, name in enumerate(rows):
        y = chart.top + 26 * i
        chart.text(chart.left - 6, y + 17, name, "end")
        for j, cell in enumerate(cells[i]):
            if cell:
                chart.box(chart.left + step * j + 1, y + 1, step - 2, 24, "s0", 0.06 + 0.5 * math.log(cell / low) / span)
                chart.text(chart.left + step * (j + 0.5), y + 17, digits(cell, 3) + ("*" if cell == best_of[i] else ""),
                           "middle")
    return chart


def schedules(bundle: Bundle) -> Iterator[Figure]:
    """Kernels by schedules, a map per matrix, K and number of threads."""
    for (matrix, k, threads), (shared, _) in schedule_groups(bundle).items():
        if not shared:
            continue
        names = list(dict.fromkeys(name for speeds in shared.values() for name in speeds))
        cells: Cells = [[speeds.get(name) for name in names] for speeds in shared.values()]
        best = [max(speeds.values()) for speeds in shared.values()]
        title = f"{short(matrix)}, {width_text(k)}, {threads} thread{'s' if threads != 1 else ''}"

        def draw(width: float, names: list[str] = names, kernels: list[str] = list(shared), cells: Cells = cells,
                 best: list[float] = best) -> Chart:
            return heat_map(width, names, kernels, cells, best)
        yield Figure("schedules", f"schedules-{slug(title)}", title,
                     f"{title}: GFLOP/s by kernel and OpenMP schedule with its chunk; * is the best of a kernel.", draw)


def search_groups(searches: list[dict[str, Any]]) -> dict[tuple[str, str, str, str], dict[tuple[int, int], float]]:
    """{(matrix, kernel, first parameter, second): {(its value, of the second): median milliseconds}}"""
    groups: dict[tuple[str, str, str, str], dict[tuple[int, int], float]] = {}
    for record in searches:
        names = [key for key, value in record.items() if isinstance(value, int) and not isinstance(value, bool)]
        if len(names) < 2 or not record["seconds"]:
            continue
        x, y = ("block", "tile") if {"block", "tile"} <= set(names) else names[:2]
        matrix = str(record["matrix"]).rpartition("/")[2].removesuffix(".csr")
        key = (matrix, record.get("kernel", ""), x, y)
        groups.setdefault(key, {})[record[x], record[y]] = 1e3 * statistics.median(record["seconds"])
    return groups


def heat_maps(bundle: Bundle) -> Iterator[Figure]:
    for (matrix, kernel, x, y), times in search_groups(bundle.searches).items():
        xs, ys = (sorted({place[i] for place in times}) for i in (0, 1))
        cells: Cells = [[times.get((a, b)) for a in xs] for b in ys]
        title = short(matrix + (f", {kernel}" if kernel else ""))

        def draw(width: float, xs: list[int] = xs, ys: list[int] = ys, cells: Cells = cells, x: str = x, y: str = y,
                 best: float = min(times.values())) -> Chart:
            return heat_map(width, [f"{short(x)} {value}" for value in xs], [f"{short(y)} {value}" for value in ys], cells,
                            [best] * len(ys))
        yield Figure("heat maps", f"heat-map-{slug(title)}-{slug(x)}-{slug(y)}", title,
                     f"{title}: median milliseconds over {x} and {y}; * is the best.", draw)
