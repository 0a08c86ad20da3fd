"""Figures drawn from cases: the overview of all ratios, rates of each matrix, roofline, ladder, orders."""
from __future__ import annotations

import math
from typing import Iterator, Optional

from report.bundle import Bundle
from report.case import Case, apart, kernel_title
from report.chart import Chart, Scale, around
from report.compare import Ratio
from report.figure import Figure, slug
from report.printable import counted
from report.profile import roof_for
from report.rows import OrderRow, compared, order_rows, rows_of
from report.tables import names_of, products_text, width_text

MOST_LINES = 6  # kernels in one small chart; beyond it they cannot be told apart


def setting_text(caches: str, value_kind: str, how: str) -> str:
    parts = [f"caches {caches}", "" if value_kind == "as stored" else value_kind, how]
    return ", ".join(part for part in parts if part)


def by_caches_and_kind(cases: list[Case]) -> dict[tuple, list[Case]]:
    groups: dict[tuple, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.setting[1:], []).append(case)
    return groups


def whisker(chart: Chart, ratio: Ratio, x: Optional[float], y: Optional[float], style: str) -> None:
    """The interval of a ratio: upright at x, or lying at y."""
    if x is not None:
        chart.line([(x, chart.y(ratio.low)), (x, chart.y(ratio.high))], style)
    elif y is not None:
        chart.line([(chart.x(ratio.low), y), (chart.x(ratio.high), y)], style)


def overview(bundle: Bundle) -> Iterator[Figure]:
    """Every ratio with its interval, from the largest loss to the largest gain."""
    rows = sorted((row for row in compared(rows_of(bundle)) if row.ratio and row.ratio.low > 0),
                  key=lambda row: row.ratio.value if row.ratio else 0)
    if not rows:
        return
    ours, other = names_of(bundle)

    def draw(width: float) -> Chart:
        chart = Chart(width, 210, bottom=24, top=24)
        values = [end for row in rows if row.ratio for end in (row.ratio.low, row.ratio.high, row.ratio.value)]
        least, most = (end(row.ratio.value for row in rows if row.ratio) for end in (min, max))
        # An interval that reaches far beyond all medians would leave no room for them.
        values = [min(max(value, least / 2), most * 2) for value in values]
        chart.axes(None, around(values, log=True, also=(1.0,)), y_label=f"{other}'s time / {ours}'s")
        x = Scale(-0.5, len(rows) - 0.5)
        x.first, x.last = chart.left, chart.right
        chart.line([(chart.left, chart.y(1)), (chart.right, chart.y(1))], "one")
        for i, row in enumerate(rows):
            assert row.ratio
            whisker(chart, row.ratio, x(i), None, row.verdict)
            tip = f"{row.label}, {width_text(row.setting.dense_cols)}: {row.ratio.value:.2f}, {row.verdict}"
            chart.marker(x(i), chart.y(row.ratio.value), 0, row.verdict, tip)
        chart.text((chart.left + chart.right) / 2, chart.bottom + 16, f"{counted(len(rows), 'case', 'cases')}, sorted", "middle", "axis")
        return chart
    yield Figure("summary", "overview", "Every case", f"Speed-up of {counted(len(rows), 'case', 'cases')} with intervals, sorted: from "
                 f"{rows[0].ratio.value:.2f} ({rows[0].label}) to {rows[-1].ratio.value:.2f} ({rows[-1].label}). "
                 "Above the line 1, csrkit is faster; grey: level or not settled.", draw)


def lines_of(bundle: Bundle, cases: list[Case]) -> list[list[Case]]:
    """The cases of each kernel on each machine, which a line joins: ours first, then what it is compared with."""
    order = list(dict.fromkeys((bundle.kernel, bundle.against, *bundle.kernels())))
    lines: dict[tuple[str, str], list[Case]] = {}
    for case in sorted(cases, key=lambda case: order.index(case.kernel)):
        lines.setdefault((case.kernel, case.place.text), []).append(case)
    return list(lines.values())


def line_titles(lines: list[list[Case]]) -> list[str]:
    """Names of kernels; one that ran in several places is named with what tells them apart, threads or machine."""
    titles = []
    for kernel, place in ((line[0].kernel, line[0].place) for line in lines):
        places = [line[0].place for line in lines if line[0].kernel == kernel]
        where = apart(place, places)
        titles.append(kernel_title(kernel) + (f", {where}" if where else ""))
    return titles


def rate_chart(width: float, titles: list[str], lines: list[list[Case]], columns: list[int]) -> Chart:
    chart = Chart(width, 200 + 16 * sum(", " in title for title in titles), top=6)  # those take a row of the legend each
    chart.legend(titles)
    chart.top += 16
    most = max((case.gflops for line in lines for case in line), default=0)
    chart.axes(around(columns, log=True), Scale(0, 1.08 * most or 1), "dense columns K", "GFLOP/s", columns)
    for i, line in enumerate(lines):
        places = [(chart.x(case.dense_cols), chart.y(case.gflops)) for case in line]
        if len(places) > 1:
            chart.line(places, f"s{i}")
        for (x, y), case in zip(places, line):
            low, high = (case.flops / end / 1e9 if end else case.gflops for end in reversed(case.interval))
            chart.line([(x, chart.y(low)), (x, chart.y(high))], f"s{i}")
            chart.marker(x, y, i, tip=f"{case.kernel}, K = {case.dense_cols}, {case.place.text}: {case.gflops:.1f} GFLOP/s")
    return chart


def rate(bundle: Bundle) -> Iterator[Figure]:
    """A small chart per matrix: the rate of each kernel over the number of dense columns."""
    for group, cases in by_caches_and_kind([c for c in bundle.cases if c.dense_cols and not c.order]).items():
        lines = lines_of(bundle, cases)[:MOST_LINES]
        titles = line_titles(lines)
        columns = sorted({case.dense_cols for case in cases})
        setting = setting_text(*group)
        for title in dict.fromkeys(case.title for case in cases):
            mine = [sorted((case for case in line if case.title == title), key=lambda case: case.dense_cols) for line in lines]

            def draw(width: float, mine: list[list[Case]] = mine, titles: list[str] = titles,
                     columns: list[int] = columns) -> Chart:
                return rate_chart(width, titles, mine, columns)
            yield Figure("rate", f"rate-{slug(title)}-{slug(setting)}", title,
                         f"{title}: GFLOP/s over the dense columns; {setting}.", draw, is_small=True)


def roofline(bundle: Bundle) -> Iterator[Figure]:
    devices: dict[tuple[bool, str], list[Case]] = {}
    for case in bundle.cases:
        if case.minimum_bytes > 0 and case.flops > 0 and case.gflops > 0:  # both axes are logarithmic
            devices.setdefault((bool(case.gpu), case.place.device), []).append(case)
    for (_, name), cases in devices.items():
        roof = roof_for(bundle.roofs, cases[0])
        kernels = list(dict.fromkeys(case.kernel for case in cases))
        limit = roof.copy_bytes_per_second / 1e9 if roof else 0.0
        source = (f"Nothing passes the line, {limit:,.0f} GB/s as csr-probe measured it, but through caches." if roof else
                  "The machine's limit is not known: csr-probe --output profile.json measures it; name that file, too.")

        def draw(width: float, cases: list[Case] = cases, kernels: list[str] = kernels, limit: float = limit) -> Chart:
            chart = Chart(width, 380 if width > 500 else 330)
            chart.legend([kernel_title(kernel) for kernel in kernels])
            chart.top += 16
            intensity = [case.flops / case.minimum_bytes for case in cases]
            roofs = [limit * end for end in (min(intensity), max(intensity))] if limit else []
            chart.axes(around(intensity, log=True), around([case.gflops for case in cases], log=True, also=roofs),
                       "FLOP per byte of A, B and C, once each", "GFLOP/s")
            if limit:
                low = max(chart.x.low, chart.y.low / limit)
                chart.line([(chart.x(end), chart.y(limit * end)) for end in (low, chart.x.high)], "roof")
                chart.text(chart.right, chart.y(limit * chart.x.high) - 5, f"{limit:,.0f} GB/s", "end", "axis")
            for case, at in zip(cases, intensity):
                tip = f"{case.title}, {case.kernel}, {width_text(case.dense_cols)}: {case.gflops:.1f} GFLOP/s"
                chart.marker(chart.x(at), chart.y(case.gflops), kernels.index(case.kernel), tip=tip)
            return chart
        yield Figure("roofline", f"roofline-{slug(name)}", name, f"Every case on {name}. {source}", draw)


def is_rung(kernel: str) -> bool:
    stem = kernel.rpartition(".")[2]
    return stem[:1] == "v" and stem[1:].partition("_")[0].isdigit()


def ladder(bundle: Bundle) -> Iterator[Figure]:
    """Geometric means of rungs, production kernels and vendors, over the matrices that all have."""
    for room in dict.fromkeys(kernel.rpartition(".")[0] for kernel in bundle.kernels()):
        kernels = [k for k in bundle.kernels() if k.rpartition(".")[0] == room]
        if not any(is_rung(kernel) for kernel in kernels):
            continue
        kernels.sort(key=lambda k: (not is_rung(k), k.rpartition(".")[2].startswith("vendor"), k))
        mine = [case for case in bundle.cases if case.kernel in kernels and not case.order]
        places = list(dict.fromkeys(case.place.text for case in mine))
        for place in places:
            name = f", {place}" if len(places) > 1 else ""
            for group, cases in by_caches_and_kind([case for case in mine if case.place.text == place]).items():
                yield from ladder_figures(room, name, kernels, setting_text(*group), cases)


def ladder_figures(room: str, place: str, kernels: list[str], setting: str, cases: list[Case]) -> Iterator[Figure]:
    rates: dict[tuple[str, int], dict[str, float]] = {}
    for case in cases:
        if case.gflops > 0:  # others have no geometric mean
            rates.setdefault((case.digest, case.dense_cols), {})[case.kernel] = case.gflops
    whole = {key: of for key, of in rates.items() if len(of) == len(kernels)}
    for k in sorted({cols for _, cols in whole}):
        chosen = [of for (_, cols), of in whole.items() if cols == k]
        means = [math.exp(sum(math.log(of[kernel]) for of in chosen) / len(chosen)) for kernel in kernels]

        def draw(width: float, means: list[float] = means) -> Chart:
            chart = Chart(width, 30 * len(kernels) + 10, left=2, right=60, bottom=2)
            x = Scale(0, max(means))
            x.first, x.last = chart.left, chart.right
            for i, (kernel, mean) in enumerate(zip(kernels, means)):
                top = chart.top + 30 * i
                chart.text(chart.left, top + 4, kernel.rpartition(".")[2])
                chart.box(chart.left, top + 8, x(mean) - chart.left, 10, f"s{0 if is_rung(kernel) else 1}")
                chart.text(x(mean) + 5, top + 17, f"{mean:,.1f}")
            return chart
        title = f"{room}, {width_text(k)}{place}"
        yield Figure("ladder", f"ladder-{slug(room)}-{k}-{slug(setting + place)}", title,
                     f"{title}: geometric mean of GFLOP/s over the {len(chosen)} matrices that every "
                     f"kernel here has; {setting}.", draw, is_small=True)


def gains(bundle: Bundle) -> Iterator[Figure]:
    """A small chart per matrix: what each order gains, with its interval, and when it has paid for itself."""
    rows = [row for row in order_rows(bundle) if row.gain and row.gain.low > 0]
    ends = [min(max(end, 0.1), 10.0) for row in rows if row.gain for end in (row.gain.low, row.gain.value, row.gain.high)]
    has_places = len({row.place for row in rows}) > 1
    for title in dict.fromkeys(row.matrix for row in rows):
        mine = [row for row in rows if row.matrix == title]

        def draw(width: float, mine: list[OrderRow] = mine) -> Chart:
            chart = Chart(width, 50 * len(mine) + 46, left=8)
            chart.axes(around(ends, log=True, also=(1.0,)), None, "natural order's time / reordered")
            for i, row in enumerate(mine):
                assert row.gain
                y = chart.top + 50 * i + 40
                chart.line([(chart.x(1), y - 7), (chart.x(1), y + 10)], "one")  # below the words, not through them
                place = f", {row.place}" if has_places else ""
                chart.text(chart.left, y - 27, f"{row.order}, {width_text(row.setting.dense_cols)}{place}")
                chart.text(chart.left, y - 13, f"pays back after: {products_text(row.pays_after, row.verdict)}", style="axis")
                whisker(chart, row.gain, None, y, row.verdict)
                chart.marker(chart.x(row.gain.value), y, 0, row.verdict, f"{row.gain.value:.2f}, {row.verdict}")
            return chart
        yield Figure("reordering", f"gain-{slug(title)}", title, f"{title}: what each order gains, with its interval; "
                     "grey: level or not settled.", draw, is_small=True)
