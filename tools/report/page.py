"""One HTML page that holds everything it shows: no request leaves it."""
from __future__ import annotations

import math
from typing import Any, Optional

from report import figures, maps, pictures, solves
from report.bundle import Bundle
from report.chart import escaped
from report.command_line import SECTIONS, Options
from report.coverage import Coverage
from report.figure import CARD, MIDDLE, NARROW, WIDE, Figure, slug, style_of
from report.rows import rows_of
from report.summary import gaps, stand_ins, summary
from report.tables import Column, Table, digits, main_table, mean_text, order_table, schedule_table, width_text
from report.rows import means_of


def draw(bundle: Bundle, options: Options) -> list[Figure]:
    """Every figure that the bundle has something for."""
    measured = list(pictures.matrices_of(bundle, options.say)) if options.draws_matrices else []
    drawn: list[Figure] = []
    for made in (figures.overview(bundle), figures.rate(bundle), figures.roofline(bundle), figures.ladder(bundle),
                 figures.gains(bundle), pictures.row_lengths(measured), pictures.spy(measured), maps.schedules(bundle),
                 maps.heat_maps(bundle), solves.histories(bundle)):
        drawn += made
    return drawn


def figure_html(figure: Figure) -> str:
    title = f"<h3>{escaped(figure.title)}</h3>"
    caption = f"<figcaption>{escaped(figure.caption)}</figcaption>"
    if figure.is_small:
        return f'<figure id="figure-{figure.name}">{title}{figure.svg(CARD)}</figure>'
    drawn = "".join(f'<div class="{name}">{figure.svg(width)}</div>'
                    for name, width in (("wide", WIDE), ("middle", MIDDLE), ("narrow", NARROW)))
    return f'<figure id="figure-{figure.name}">{title}{drawn}{caption}</figure>'


def figures_html(drawn: list[Figure], section: str) -> str:
    mine = [figure for figure in drawn if figure.section == section]
    text = "".join(figure_html(figure) for figure in mine)
    return f'<div class="cards">{text}</div>' if mine and mine[0].is_small else text


def cell_html(column: Column, row: Any, is_first: bool) -> str:
    shown = escaped(column.shown(row))
    if is_first:
        return f'<th scope="row">{shown}</th>'
    if column.is_text:
        return f'<td class="{column.name}">{shown}</td>' if column.name in ("verdict", "note") else f"<td>{shown}</td>"
    value = column.value(row)
    exact = f"{value:.6g}" if isinstance(value, (int, float)) and math.isfinite(value) else ""
    return f'<td class="number" data-v="{exact}">{shown}</td>'


def table_html(of: Table, name: str) -> str:
    head = "".join(f'<th scope="col"{"" if column.is_text else " class=number"}><button type="button">{escaped(column.name)}'
                   "</button></th>" for column in of.columns)
    body = ""
    for row in of.rows:
        cells = "".join(cell_html(column, row, i == 0) for i, column in enumerate(of.columns))
        body += f'<tr class="{getattr(row, "verdict", "")}">{cells}</tr>'
    return (f'<div class="scroll" role="region" aria-label="{name}" tabindex="0"><table class="sortable"><thead><tr>{head}'
            f"</tr></thead><tbody>{body}</tbody></table></div>")


CONTROLS = ('<div class="controls" hidden><input type="search" placeholder="filter rows" aria-label="filter rows by words">'
            '<select aria-label="filter rows by verdict"><option value="">every verdict</option>{}</select>'
            '<output aria-live="polite"></output></div>')


def main_section(bundle: Bundle) -> str:
    of = main_table(bundle)
    if not of.rows:
        return "<p>No case of this kernel is in the bundles.</p>" if bundle.cases else ""
    verdicts = dict.fromkeys(row.verdict for row in of.rows if row.verdict)
    text = ("<p>A time is the median of one product, operands in place; +- is half its 95 % interval. A speed-up is the "
            "median over pairs of samples where the kernels took turns, else the ratio of the medians, with its 95 % "
            "interval; where that holds 1, the verdict is level. Click a heading to sort.</p>")
    text += CONTROLS.format("".join(f"<option>{escaped(verdict)}</option>" for verdict in verdicts))
    text += table_html(of, "cases")
    means = "".join(f"<li>{width_text(k)}: {mean_text(mean)}</li>" for k, mean in means_of(of.rows).items())
    return text + (f"<p>Geometric means, natural order:</p><ul>{means}</ul>" if means else "")


def order_section(bundle: Bundle) -> str:
    of = order_table(bundle)
    if not of.rows:
        return ""
    return ("<p>So many products must follow until the time for computing the order is won back, with its 95 % "
            f"interval. '-': its cost is not known.</p>{table_html(of, 'orders')}")


def schedule_section(bundle: Bundle) -> str:
    of = schedule_table(bundle)
    if not of.rows:
        return ""
    return ("<p>Lost: what the worst schedule costs against the best. Over naive: the best against the naive loops.</p>"
            + table_html(of, "schedules"))


def spy_section(drawn: list[Figure]) -> str:
    if not any(figure.section == "spy plots" for figure in drawn):
        return ""
    steps = ",".join(f"rgb{colour}" for colour in pictures.palette()[1:])
    return (f'<div class="scale" style="background:linear-gradient(90deg,{steps})" role="img" '
            'aria-label="scale from few to all places"></div><p class="note">From few to all places; one scale for all.</p>')


def machines(bundle: Bundle) -> str:
    text = ""
    for facts, commands in bundle.machines:
        gpu = facts.get("gpu") or {}
        known = {key: value for key, value in facts.items() if key != "gpu" and value not in ("", None)}
        known.update({f"gpu {key}": value for key, value in gpu.items()})
        lines = "".join(f'<tr><th scope="row">{escaped(key.replace("_", " "))}</th><td>{escaped(fact_text(value))}</td></tr>'
                        for key, value in known.items())
        text += f'<div class="scroll"><table class="facts"><tbody>{lines}</tbody></table></div>'
        text += "<details><summary>commands</summary>" + "".join(
            f"<p><code>{escaped(command)}</code></p>" for command in commands) + "</details>"
    for what, names in (("Clocks were held back during", bundle.throttled), ("Something else ran during", bundle.disturbed)):
        if names:
            text += f"<p>{what}: {escaped('; '.join(names))}.</p>"
    for failure in bundle.failures:
        text += f"<p>Failed: {escaped(failure.name)}: {escaped(failure.reason)}</p>"
    return text


def fact_text(value: Any) -> str:
    return digits(float(value), 3) if isinstance(value, float) and math.isfinite(value) else str(value)


def html_page(bundle: Bundle, drawn: list[Figure], options: Options, coverage: Optional[Coverage]) -> str:
    extra = {"table": main_section(bundle), "reordering": order_section(bundle), "schedules": schedule_section(bundle),
             "spy plots": spy_section(drawn), "machines": machines(bundle)}
    body, links = "", ""
    for name, about in SECTIONS:
        content = extra.get(name, "") + figures_html(drawn, name)
        if name == "summary" or not content:
            continue
        place = slug(name)
        links += f'<a href="#{place}">{name}</a>'
        body += (f'<section aria-labelledby="{place}"><h2 id="{place}">{name.capitalize()}</h2>'
                 f'<p class="note">{about[0].upper() + about[1:]}.</p>{content}</section>')
    title = escaped(options.title)
    first = (gaps(bundle, coverage) + summary(bundle, rows_of(bundle), coverage) + stand_ins(bundle)
             + figures_html(drawn, "summary"))
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<style>{style_of('chart.css')}{style_of('page.css')}</style></head><body>"
            f'<a class="skip" href="#table">to the table</a><main><h1>{title}</h1><section id="summary" aria-label="summary">'
            f"{first}</section><nav aria-label=\"sections\">{links}</nav>{body}</main>"
            f"<script>{style_of('page.js')}</script></body></html>\n")
