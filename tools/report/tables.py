"""The tables: for the page, as Markdown, as CSV."""
import csv
import io
import json
import math
import re

from report.printable import printable

HEADERS = ("matrix", "order", "nnz", "K", "caches", "values", "ours s", "theirs s", "speed-up", "nnz/s",
           "GFLOP/s", "+- %", "check")


RIVALS = {"vendor_cusparse": "cuSPARSE", "vendor_mkl": "MKL", "vendor_eigen": "Eigen"}


def shown_names(headers, bundle):
    """Whose time it is, where everybody knows them by a name."""
    rival = RIVALS.get(bundle.against.rpartition(".")[2], "theirs")
    return [f"{rival} s" if name == "theirs s" else name for name in headers]


def width_text(k):
    return f"K = {k}" if k else "A times A"


def rows_of(bundle):
    """A row per matrix and setting that ours was measured in; what theirs lacks is a '-'."""
    for ours in bundle.cases:
        if ours.kernel != bundle.kernel:
            continue
        theirs = bundle.find(ours, bundle.against) if bundle.against else None
        width = 50 * (ours.interval[1] - ours.interval[0]) / ours.seconds if ours.seconds else 0
        yield {"matrix": ours.dataset, "order": ours.order or "natural", "nnz": ours.nnz, "K": ours.dense_cols,
               "caches": ours.caches, "values": ours.value_kind, "ours s": ours.seconds,
               "theirs s": theirs and theirs.seconds,
               "speed-up": theirs.seconds / ours.seconds if theirs and ours.seconds else None,
               "nnz/s": ours.nnz / ours.seconds if ours.seconds else None, "GFLOP/s": ours.gflops, "+- %": width,
               "check": ours.check}


def shown_headers(rows):
    """Columns that say the same in every row say nothing."""
    boring = {name for name in ("order", "caches", "values") if len({row[name] for row in rows}) < 2}
    return [name for name in HEADERS if name not in boring]


def cell(name, value):
    if value is None or (name == "K" and value == 0):
        return "-"
    formats = {"nnz": "{:,}", "speed-up": "{:.2f}", "nnz/s": "{:.3g}", "GFLOP/s": "{:.1f}", "+- %": "{:.1f}",
               "ours s": "{:.4g}", "theirs s": "{:.4g}", "break-even": "{:,.0f}", "gain": "{:.2f}",
               "lost %": "{:.0f}", "over naive": "{:.2f}", "order s": "{:.3g}", "natural s": "{:.4g}", "reordered s": "{:.4g}"}
    return formats.get(name, "{}").format(value)


def geomeans(rows):
    """{K: (cases, geometric mean of the speed-ups, how many below 1)}"""
    groups = {}
    for row in rows:
        if row["speed-up"]:
            groups.setdefault(row["K"], []).append(row["speed-up"])
    return {k: (len(ups), math.exp(sum(map(math.log, ups)) / len(ups)), sum(up < 1 for up in ups))
            for k, ups in sorted(groups.items(), key=lambda item: str(item[0]).rjust(12))}


def schedule_text(record):
    chunk = record.get("chunk")
    return f"{record['schedule']} {chunk}" if chunk else record["schedule"]


def schedule_groups(bundle):
    """{(matrix, K, threads): ({kernel: {schedule: GFLOP/s}}, {kernel without a schedule: GFLOP/s})}"""
    groups = {}
    for record in bundle.schedules:
        matrix = str(record["matrix"]).rpartition("/")[2].removesuffix(".csr")
        shared, plain = groups.setdefault((matrix, record["dense_cols"], record["threads"]), ({}, {}))
        kernel = record["kernel"].rpartition(".")[2]
        if record["schedule"]:
            shared.setdefault(kernel, {})[schedule_text(record)] = record["gflops"]
        else:
            plain[kernel] = record["gflops"]
    return groups


SCHEDULE_HEADERS = ("matrix", "K", "threads", "kernel", "best schedule", "GFLOP/s", "worst schedule", "lost %", "over naive")


def schedule_rows(bundle):
    """The best and the worst schedule of every kernel, and how often faster than the naive loops it is."""
    groups = schedule_groups(bundle)
    for (matrix, k, threads), (shared, plain) in groups.items():
        naive = next((of["naive"] for key, (_, of) in groups.items() if key[:2] == (matrix, k) and "naive" in of), None)
        for kernel, speeds in [*shared.items(), *((name, {"-": speed}) for name, speed in plain.items())]:
            best, worst = max(speeds, key=speeds.get), min(speeds, key=speeds.get)
            yield {"matrix": matrix, "K": k, "threads": threads, "kernel": kernel, "best schedule": best,
                   "GFLOP/s": speeds[best], "worst schedule": worst if len(speeds) > 1 else "-",
                   "lost %": 100 * (1 - speeds[worst] / speeds[best]) if len(speeds) > 1 else None,
                   "over naive": speeds[best] / naive if naive else None}


def break_even_rows(bundle):
    """What each order cost and gained for our kernel."""
    for case in bundle.cases:
        if case.kernel != bundle.kernel or not case.order:
            continue
        before = next((c for c in bundle.cases if c.digest == case.base_digest and c.kernel == case.kernel
                       and c.setting == case.setting), None)
        cost = bundle.orders.get(case.matrix.rpartition("/")[2], case.order_seconds or None)
        gained = before.seconds - case.seconds if before else None
        pays = None
        if cost is not None and gained is not None:
            pays = cost / gained if gained > 0 else math.inf
        yield {"matrix": case.dataset, "order": case.order, "K": case.dense_cols, "caches": case.caches,
               "values": case.value_kind, "order s": cost, "natural s": before and before.seconds,
               "reordered s": case.seconds, "gain": before.seconds / case.seconds if before else None,
               "break-even": pays}


def table_cells(headers, rows):
    lines = []
    for row in rows:
        lines.append(["never" if row[name] == math.inf else cell(name, row[name]) for name in headers])
    return lines


def markdown_table(headers, lines, right, bundle):
    rule = ["---:" if name in right else "---" for name in headers]
    head = shown_names(headers, bundle)
    rows = [head, rule, *([markdown_escaped(cell) for cell in cells] for cells in lines)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"


def markdown_escaped(text):
    """Text that Markdown shows as it is: no tag, no cell, no emphasis, no link of it is obeyed."""
    return re.sub(r"([\\`*\[\]<>|~$#!&])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\\g<0>", printable(text))


def markdown_code(text):
    """A code span; a backtick would end it."""
    return "`" + printable(text).replace("`", "'").replace("|", "\\|") + "`"


TEXT_COLUMNS = ("matrix", "order", "caches", "values", "check", "kernel", "best schedule", "worst schedule")
BREAK_EVEN_HEADERS = ("matrix", "order", "K", "caches", "order s", "natural s", "reordered s", "gain", "break-even")


def right_of(headers):
    return [name for name in headers if name not in TEXT_COLUMNS]


def markdown(bundle):
    parts = []
    rows = list(rows_of(bundle))
    if rows:
        headers = shown_headers(rows)
        text = f"Ours: {markdown_code(bundle.kernel)}"
        text += (f", theirs: {markdown_code(bundle.against)}" if bundle.against else "") + "\n\n"
        text += markdown_table(headers, table_cells(headers, rows), right_of(headers), bundle)
        for k, (count, mean, lost) in geomeans(rows).items():
            text += f"\n{width_text(k)}: geometric mean {mean:.2f} over {count} cases, {lost} below 1."
        parts.append(text)
    for headers, rows in ((BREAK_EVEN_HEADERS, list(break_even_rows(bundle))),
                          (SCHEDULE_HEADERS, list(schedule_rows(bundle)))):
        if rows:
            parts.append(markdown_table(headers, table_cells(headers, rows), right_of(headers), bundle))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


CSV_COLUMNS = ("dataset", "order", "matrix", "matrix_xxh3_128", "rows", "cols", "nnz", "kernel", "dense_cols", "caches",
               "value_kind", "median_seconds", "low_seconds", "high_seconds", "runs", "gflops", "analysis_seconds",
               "upload_a_seconds", "peak_bytes", "check", "gpu", "cpu", "commit", "time")


def csv_text(bundle):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for case in bundle.cases:
        writer.writerow([case.dataset, case.order, case.matrix, case.digest, case.rows, case.cols, case.nnz, case.kernel,
                         case.dense_cols, case.caches, case.value_kind, case.seconds, *case.interval, case.runs,
                         case.gflops, case.analysis_seconds, case.upload_a_seconds, case.peak_bytes, case.check,
                         case.gpu.name if case.gpu else "", case.cpu, case.commit, case.time])
    return stream.getvalue()


def summary(bundle, as_json):
    rows = list(rows_of(bundle))
    means = geomeans(rows)
    if as_json:
        return json.dumps({"kernel": bundle.kernel, "against": bundle.against, "cases": len(bundle.cases),
                           "failures": len(bundle.failures), "rows": rows,
                           "geomeans": [{"dense_cols": k, "cases": n, "speed_up": mean, "below_1": lost}
                                        for k, (n, mean, lost) in means.items()]}) + "\n"
    text = f"{len(bundle.cases)} cases of {len({case.digest for case in bundle.cases})} matrices"
    text += f", {len(bundle.failures)} failed\n" if bundle.failures else "\n"
    for k, (count, mean, lost) in means.items():
        text += f"{f'K {k}' if k else 'A times A'}: {mean:.2f} times {printable(bundle.against)} (geometric mean of {count}, {lost} below 1)\n"
    return text
