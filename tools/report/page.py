"""One HTML page that holds everything it shows: no request leaves it."""
import base64
import html
import math

from report import figures, pictures, tables
from report.command_line import SECTIONS
from report.printable import printable

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:1180px;margin:0 auto;padding:1rem 1.5rem}
h1{font-size:1.7rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .6rem;border-bottom:1px solid #bbb}
nav a{margin-right:1rem}a{color:#00558a}figure{margin:1rem 0}figure img{width:100%;height:auto}
figcaption{color:#444;font-size:.92rem}.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:left;white-space:nowrap}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}thead th{border-bottom:2px solid #666}
tr.lost td{background:#fdf1e3}code{font-size:.88rem;overflow-wrap:anywhere}.note{color:#444}
"""


def shown(text):
    """Text as HTML that shows it as it is."""
    return html.escape(printable(text))


def draw(bundle, options):
    """Every figure that the bundle has something for."""
    measured = list(pictures.matrices_of(bundle, options.say)) if options.draws_matrices else []
    drawn = []
    for made in (figures.speed_up(bundle), figures.rate(bundle), figures.roofline(bundle), figures.ladder(bundle),
                 figures.break_even(bundle), pictures.row_lengths(measured), pictures.spy(measured),
                 pictures.schedules(bundle), pictures.heat_maps(bundle.searches)):
        drawn += made
    return drawn


def image(figure):
    data, kind = (figure.png, "png") if figure.raster else (figure.svg, "svg+xml")
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    caption = shown(figure.caption)
    return f'<figure id="figure-{figure.name}"><img alt="{caption}" src="{source}"><figcaption>{caption}</figcaption></figure>'


def html_table(headers, lines, lost=(), names=None):
    def tag(name):
        return "" if name in tables.TEXT_COLUMNS else ' class="number"'
    head = "".join(f"<th{tag(name)}>{shown(text)}</th>" for name, text in zip(headers, names or headers))
    body = ""
    for i, cells in enumerate(lines):
        row = "".join(f"<td{tag(name)}>{shown(text)}</td>" for name, text in zip(headers, cells))
        body += f'<tr{" class=lost" if i in lost else ""}>{row}</tr>'
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def main_table(bundle):
    rows = list(tables.rows_of(bundle))
    if not rows:
        return "<p>No case of this kernel is in the bundles.</p>" if bundle.cases else ""
    headers = tables.shown_headers(rows)
    lost = {i for i, row in enumerate(rows) if row["speed-up"] and row["speed-up"] < 1}
    text = f"<p>Ours: <code>{shown(bundle.kernel)}</code>"
    if bundle.against:
        text += f", theirs: <code>{shown(bundle.against)}</code>, from the same run"
    text += ". Time is the median of one product, operands in place; +- is half its 95 % interval."
    text += " Tinted rows: theirs is faster.</p>" if lost else "</p>"
    text += html_table(headers, tables.table_cells(headers, rows), lost, tables.shown_names(headers, bundle))
    means = [f"{tables.width_text(k)}: {mean:.2f} over {count} cases, {below} below 1"
             for k, (count, mean, below) in tables.geomeans(rows).items()]
    return text + ("<p>Geometric mean of the speed-up. " + "; ".join(means) + ".</p>" if means else "")


def order_table(bundle):
    rows = list(tables.break_even_rows(bundle))
    if not rows:
        return ""
    text = ("<p>Break-even: so many products must follow until the time for computing the order is won back. "
            "'-': its cost is not known.</p>")
    return text + html_table(tables.BREAK_EVEN_HEADERS, tables.table_cells(tables.BREAK_EVEN_HEADERS, rows))


def schedule_table(bundle):
    rows = list(tables.schedule_rows(bundle))
    if not rows:
        return ""
    text = "<p>Lost: what the worst schedule costs against the best. Over naive: the best against the naive loops.</p>"
    return text + html_table(tables.SCHEDULE_HEADERS, tables.table_cells(tables.SCHEDULE_HEADERS, rows))


def machines(bundle):
    text = ""
    for facts, commands in bundle.machines:
        gpu = facts.get("gpu") or {}
        known = {key: value for key, value in facts.items() if key != "gpu" and value not in ("", None)}
        known.update({f"gpu {key}": value for key, value in gpu.items()})
        lines = [[key.replace("_", " "), f"{value:,.0f}" if isinstance(value, float) and math.isfinite(value) else
                  str(value)] for key, value in known.items()]
        text += html_table(("matrix", "check"), lines).replace(
            "<thead><tr><th>matrix</th><th>check</th></tr></thead>", "")
        text += "<details><summary>commands</summary>" + "".join(
            f"<p><code>{shown(command)}</code></p>" for command in commands) + "</details>"
    if bundle.throttled:
        text += "<p>Clocks were held back during: " + shown("; ".join(bundle.throttled)) + ".</p>"
    for what, why in bundle.failures:
        text += f"<p>Failed: {shown(what)}: {shown(why)}</p>"
    return text


def html_page(bundle, drawn, options):
    extra = {"table": main_table(bundle), "reordering": order_table(bundle), "schedules": schedule_table(bundle),
             "machines": machines(bundle)}
    body, links = "", ""
    for name, summary in SECTIONS:
        content = extra.get(name, "") + "".join(image(figure) for figure in drawn if figure.section == name)
        if not content:
            continue
        place = figures.slug(name)
        links += f'<a href="#{place}">{name}</a>'
        body += f'<h2 id="{place}">{name.capitalize()}</h2><p class="note">{summary[0].upper() + summary[1:]}.</p>{content}'
    title = shown(options.title)
    facts = (f"{len(bundle.cases)} cases of {len({case.digest for case in bundle.cases})} matrices"
             f"{f', {len(bundle.failures)} failed' if bundle.failures else ''}.")
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">'
            f"<style>{STYLE}</style></head><body><h1>{title}</h1><p>{facts}</p><nav>{links}</nav>{body}</body></html>\n")
