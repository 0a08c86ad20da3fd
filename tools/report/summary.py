"""The first screen: what is missing, the mean with its interval, wins and losses, the machine."""
from __future__ import annotations

from typing import Optional

from report.bundle import Bundle
from report.chart import escaped
from report.compare import FASTER, LEVEL, SLOWER, UNSETTLED, Mean
from report.coverage import Coverage
from report.printable import counted
from report.rows import Row, compared, means_of, overall_mean
from report.tables import against_text, width_text

OPEN_GAPS = 4  # more of them are folded away, so that the summary stays on the first screen


def gaps(bundle: Bundle, coverage: Optional[Coverage]) -> str:
    """'137 of 180 cases, 13 data sets incomplete', and the line that mends each."""
    lines = [f"<li><strong>{escaped(gap.title)}</strong> ({counted(len(gap.cells), 'case', 'cases')}): {escaped(gap.reason)}"
             f"<br><code>{escaped(gap.mend)}</code></li>" for gap in (coverage.missing if coverage else [])]
    lines += [f"<li>{escaped(cut)}; the same command measures it again.</li>" for cut in bundle.cut]
    if not lines:
        return ""
    heading = coverage.text() if coverage and not coverage.is_whole else "A record is incomplete"
    text = f"<ul>{''.join(lines[:OPEN_GAPS])}</ul>"
    if len(lines) > OPEN_GAPS:
        text += f"<details><summary>{len(lines) - OPEN_GAPS} more</summary><ul>{''.join(lines[OPEN_GAPS:])}</ul></details>"
    return f'<aside class="gaps" aria-label="what is missing"><h2>{escaped(heading)}</h2>{text}</aside>'


def stand_ins(bundle: Bundle) -> str:
    names = dict.fromkeys(case.title for case in bundle.cases if case.like)
    if not names:
        return ""
    matrices = counted(bundle.matrices(), "matrix is a stand-in", "matrices are stand-ins")
    return (f'<p class="stand-in">{len(names)} of {matrices}: generated with the size and row lengths of a published graph. '
            "They are not the published data.</p>")


def tile(big: str, what: str, more: str = "") -> str:
    return f'<div class="tile"><span class="big">{big}</span><span class="what">{what}</span>{more}</div>'


def mean_tile(mean: Mean, rows: list[Row]) -> str:
    if not mean.settled:
        return tile("-", f"no mean: none of {counted(mean.counts[UNSETTLED], 'case', 'cases')} is settled")
    per_width = means_of(rows)
    each = "".join(f'<span class="what">{width_text(k)}: {of.value:.2f} ({of.low:.2f} to {of.high:.2f})</span>'
                   for k, of in per_width.items() if of.settled) if len(per_width) > 1 else ""
    return tile(f"{mean.value:.2f}", f"times as fast, geometric mean over {counted(mean.settled, 'settled case', 'settled cases')} "
                f"({mean.low:.2f} to {mean.high:.2f})", each)


def verdict_tile(mean: Mean) -> str:
    counts = {name: mean.counts[name] for name in (FASTER, LEVEL, SLOWER, UNSETTLED) if mean.counts[name]}
    bar = "".join(f'<span class="{name}" style="flex:{count}"></span>' for name, count in counts.items())
    label = ", ".join(f"{count} {name}" for name, count in counts.items())
    return tile(f"{mean.counts[FASTER]} / {mean.counts[LEVEL]} / {mean.counts[SLOWER]}",
                "faster / level / slower" + (f", {mean.counts[UNSETTLED]} not settled" if mean.counts[UNSETTLED] else ""),
                f'<div class="share" role="img" aria-label="{label}">{bar}</div>')


def coverage_tile(bundle: Bundle, coverage: Optional[Coverage]) -> str:
    of = f"{bundle.matrices()} {'matrix' if bundle.matrices() == 1 else 'matrices'}"
    failed = f", {len(bundle.failures)} failed" if bundle.failures else ""
    if coverage:
        return tile(f"{coverage.done} of {coverage.asked}", f"cases that were asked for, {of}{failed}")
    return tile(f"{len(bundle.cases)}", f"cases of {of}{failed}")


def machine_tile(bundle: Bundle) -> str:
    devices = list(dict.fromkeys(case.place.device for case in bundle.cases))
    days = sorted({case.time[:10] for case in bundle.cases if case.time})
    commits = sorted({case.commit for case in bundle.cases if case.commit})
    when = days[0] + (f" to {days[-1]}" if len(days) > 1 else "") if days else ""
    facts = [when, *(f"commit {commit}" for commit in commits)]
    return (f'<div class="tile"><span class="machine">{escaped(", ".join(devices))}</span>'
            + "".join(f'<span class="what">{escaped(fact)}</span>' for fact in facts if fact) + "</div>")


def summary(bundle: Bundle, rows: list[Row], coverage: Optional[Coverage]) -> str:
    if not bundle.cases:
        return ""
    mean = overall_mean(rows)
    tiles = (mean_tile(mean, rows) + verdict_tile(mean)) if mean else ""
    tiles += coverage_tile(bundle, coverage) + machine_tile(bundle)
    lead = f"csrkit's <code>{escaped(bundle.kernel)}</code>"
    if bundle.against:
        lead += f" against {escaped(against_text(bundle))}, from the same run"
    if any(row.order != "natural" for row in rows) and compared(rows):
        lead += "; means are over natural order, for the orders of a matrix are not more matrices"
    return f'<p>{lead}.</p><div class="tiles">{tiles}</div>'
