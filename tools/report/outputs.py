"""What is not the page: every case as CSV, the summary as text and as JSON."""
from __future__ import annotations

import csv
import io
import json
from typing import Any, Optional

from report.bundle import Bundle
from report.case import Case
from report.compare import FASTER, LEVEL, SLOWER, UNSETTLED, Mean, Ratio
from report.coverage import Coverage
from report.printable import counted, printable, printable_lines
from report.rows import Row, means_of, rows_of
from report.tables import against_text, mean_text

SCHEMA = 1  # of the summary as JSON; docs/json.md
CSV_COLUMNS = ("dataset", "order", "stand_in_for", "stand_in_scale", "matrix", "matrix_xxh3_128", "rows", "cols", "nnz",
               "kernel", "dense_cols", "caches", "value_kind", "status", "median_seconds", "low_seconds", "high_seconds",
               "runs", "gflops", "analysis_seconds", "upload_a_seconds", "peak_bytes", "check", "gpu", "cpu", "commit",
               "time", "reason", "how", "threads")


def csv_text(bundle: Bundle) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for case in bundle.cases:
        writer.writerow({
            "dataset": case.dataset, "order": case.order, "stand_in_for": case.like,
            "stand_in_scale": case.scale if case.like else "", "matrix": case.matrix, "matrix_xxh3_128": case.digest,
            "rows": case.rows, "cols": case.cols, "nnz": case.nnz, "kernel": case.kernel, "dense_cols": case.dense_cols,
            "caches": case.caches, "value_kind": case.value_kind, "status": "done", "median_seconds": case.seconds,
            "low_seconds": case.interval[0], "high_seconds": case.interval[1], "runs": len(case.samples), "gflops": case.gflops,
            "analysis_seconds": case.analysis_seconds, "upload_a_seconds": case.upload_a_seconds,
            "peak_bytes": case.peak_bytes, "check": case.check, "gpu": case.gpu.name if case.gpu else "",
            "cpu": case.cpu, "commit": case.commit, "time": case.time,
            "how": case.setting.how, "threads": case.place.threads or ""})
    for failure in bundle.failures:
        dataset, _, order = failure.stem.partition(".")
        writer.writerow({
            "dataset": dataset, "order": order, "matrix": failure.matrix, "matrix_xxh3_128": failure.digest,
            "kernel": failure.kernel, "dense_cols": failure.setting.dense_cols,
            "caches": failure.setting.caches, "value_kind": failure.setting.value_kind, "status": "failed",
            "reason": failure.reason, "how": failure.setting.how, "threads": failure.place.threads or ""})
    return stream.getvalue()


def seconds_and_interval(whose: str, case: Optional[Case]) -> dict[str, Any]:
    return {f"{whose}_seconds": case and case.seconds, f"{whose}_interval_seconds": case and case.interval}


def ratio_json(ratio: Optional[Ratio]) -> dict[str, Any]:
    return {"speed_up": ratio and ratio.value, "speed_up_interval": ratio and [ratio.low, ratio.high]}


def row_json(row: Row) -> dict[str, Any]:
    return {"matrix": row.matrix, "order": row.order, "nnz": row.nnz, **row.setting._asdict(), "device": row.place,
            **seconds_and_interval("our", row.ours),
            **seconds_and_interval("other", row.other), **ratio_json(row.ratio), "verdict": row.verdict, "note": row.note}


def mean_json(mean: Mean) -> dict[str, Any]:
    return {"speed_up": mean.value if mean.settled else None,
            "speed_up_interval": [mean.low, mean.high] if mean.settled else None}


def coverage_json(coverage: Optional[Coverage]) -> Optional[dict[str, Any]]:
    return coverage and {
        "asked": coverage.asked, "done": coverage.done,
        "missing": [{"what": gap.title, "cases": len(gap.cells), "reason": gap.reason, "mend": gap.mend}
                    for gap in coverage.missing]}


def summary_json(bundle: Bundle, coverage: Optional[Coverage]) -> str:
    rows = rows_of(bundle)
    means = [{"dense_cols": k, "cases": mean.settled, **mean_json(mean),
              "faster": mean.counts[FASTER], "level": mean.counts[LEVEL], "slower": mean.counts[SLOWER],
              "unsettled": mean.counts[UNSETTLED]} for k, mean in means_of(rows).items()]
    return json.dumps({"schema": SCHEMA, "kernel": bundle.kernel, "against": bundle.against, "cases": len(bundle.cases),
                       "matrices": bundle.matrices(), "failures": len(bundle.failures), "cut": bundle.cut,
                       "coverage": coverage_json(coverage), "rows": [row_json(row) for row in rows],
                       "geomeans": means}) + "\n"


def summary_text(bundle: Bundle, coverage: Optional[Coverage]) -> str:
    text = f"{counted(len(bundle.cases), 'case', 'cases')} of {counted(bundle.matrices(), 'matrix', 'matrices')}"
    text += f", {len(bundle.failures)} failed\n" if bundle.failures else "\n"
    if coverage:
        text += coverage.text() + "\n"
        for gap in coverage.missing:
            text += (f"  missing: {printable(gap.title)} ({counted(len(gap.cells), 'case', 'cases')}): "
                     f"{printable(gap.reason)}\n    mend: {printable(gap.mend)}\n")
    for k, mean in means_of(rows_of(bundle)).items():
        text += f"{f'K {k}' if k else 'A times A'}: {mean_text(mean)}, against {against_text(bundle)}\n"
    return printable_lines(text)
