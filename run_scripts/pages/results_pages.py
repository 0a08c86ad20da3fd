#!/usr/bin/env python3
"""Writes the tables of the pages from the data in docs/results/<machine>/data.

Usage: results_pages.py [--check] [PAGE.md...]      (default: README.md and every page below docs)

A table stands between two lines of a page, and everything between them is generated:

    <!-- table h200/spmm | where caches=warm, set=real | columns matrix; K; speed-up | best A..B -->
    <!-- mean h200/spmm | of speed-up | by set, caches, K | where ... -->
    <!-- summary SpMM f32 warm, SpGEMM f64 -->      means named in docs/results/summary.tsv; empty: all
    <!-- picture h200/spmm | of speed-up | by K | file docs/pictures/spmm.svg | title ... | where ... -->
    <!-- end -->

h200/spmm is docs/results/h200/data/spmm.tsv, or records of csr-bench (ranks: of scaling.py) in that folder: spmm.<set>.jsonl
or spmm.<set>.jsonl.gz. Records replace the TSV: delete it when you add them. `best` prints the largest number of
a row in bold. "of A; B / C" is the smaller of A and B over C. --check writes nothing; it names every
page that differs from its data, with exit code 1.
"""
import argparse
import difflib
import functools
import pathlib
import re
import sys

import kernel_ladder_table
import plot_speedup
import reordered_table
import vendors_table
import solve_table
import spgemm_gpu_table
import spmm_gpu_table
import tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
MARK = re.compile(r"<!-- (table|mean|summary|picture)((?: [^>]*)?) -->\n")


class Data:
    """The rows of one data file, or of the records that replace it, and where they come from."""

    def __init__(self, name):
        machine, slash, stem = name.partition("/")
        folder = RESULTS / machine / "data"
        tsv = folder / f"{stem}.tsv"
        records = sorted([*folder.glob(f"{stem}.*.jsonl"), *folder.glob(f"{stem}.*.jsonl.gz")])
        if not slash or tsv.exists() == bool(records):
            raise SystemExit(f"results_pages.py: {name}: expected either {tsv} or {stem}.<set>.jsonl[.gz] beside it")
        if tsv.exists():
            self.files = [tsv]
            self.facts, self.rows = tables.read_tsv(tsv)
        else:
            self.files = records
            self.facts, self.rows = of_records(stem, records)

    def where(self, conditions):
        """The rows that fulfil 'heading=text or text, heading!=text, ...'."""
        rows = self.rows
        for condition in filter(None, re.split(r",\s*", conditions)):
            heading, _, text = condition.partition("=")
            wanted = not heading.endswith("!")
            heading = heading.rstrip("!").strip()
            if rows and heading not in rows[0]:
                raise SystemExit(f"results_pages.py: {self.files[0]} has no column {heading}")
            texts = [word.strip() for word in text.split(" or ")]
            rows = [row for row in rows if (row[heading] in texts) == wanted]
        return rows

    def caption(self, page, is_short=False):
        links = ", ".join(f"[{file.name}]({relative(file, page)})" for file in self.files)
        state = f"published with {self.facts['published']}" if "published" in self.facts else (
            f"commit {self.facts.get('commit', 'unknown')}")
        if is_short:
            return f"\n*{self.facts['date']}, {state}; {links}.*\n"
        note = f"; {self.facts['note']}" if self.facts.get("note") else ""
        return f"\n*{self.facts['machine']}; {self.facts['date']}, {state}; {links}{note}.*\n"


@functools.cache
def data_of(name):
    """The data of a name, read once: many tables of a page come from the same records."""
    return Data(name)


def ranks_rows(paths):
    """The rows of strong scaling, from records of scaling.py."""
    rows = []
    for record in (record for path in paths for record in tables.read_records(path)):
        if record["scaling"] != "strong":
            continue
        seconds, forecast = record["median_seconds"], record["forecast_seconds"]
        started = "one process" if record["launcher"] == "threads" else record["launcher"]
        rows.append({"matrix": record["matrix"], "K": str(record["dense_cols"]),
                     "way": "alone" if record["way"] == "one process" else record["way"], "ranks": str(record["ranks"]),
                     "started by": "-" if record["way"] == "one process" else started, "ms": f"{1e3 * seconds:.3f}",
                     "forecast ms": f"{1e3 * forecast:.3f}" if forecast else "-",
                     "forecast over seen": f"{forecast / seconds:.2f}" if forecast else "-",
                     "moved MB": f"{record['bytes'] / 1e6:,.1f}" if record["bytes"] else "-",
                     "times alone": f"{record['speed_up']:.2f}" if record["speed_up"] else "-"})
    return rows


def of_records(stem, paths):
    """Facts and rows of records of csr-bench, by the script that makes the table of their operation."""
    sets = [(path.name[len(stem) + 1:].partition(".")[0], path) for path in paths]
    records = [record for _, path in sets for record in tables.read_records(path)]
    machine = records[0]["machine"]
    if stem.startswith("ranks"):
        gpus = records[0]["gpus"]
        facts = {"machine": f"{len(gpus)} {gpus[0]} of one host" if gpus else f"{machine['threads']} threads of {machine['cpu']}",
                 "date": max(record["time"] for record in records)[:10],
                 "commit": ", ".join(dict.fromkeys(record["machine"]["commit"] for record in records))}
        return facts, ranks_rows(paths)
    on_gpu = records[0]["case"]["kernel"].startswith("gpu.") and machine["gpu"]
    facts = {"machine": machine["gpu"]["name"] if on_gpu else f"{machine['threads']} thread{'s' * (machine['threads'] != 1)} of {machine['cpu']}",
             "date": max(record["time"] for record in records)[:10],
             "commit": ", ".join(dict.fromkeys(record["machine"].get("commit", "unknown") for record in records))}
    if stem.startswith("ladder"):
        kernels = records[0]["case"]["kernel"].rpartition(".")[0] + "."
        rows = kernel_ladder_table.data_rows(paths, kernels)
    elif stem == "reordered":
        rows = reordered_table.data_rows(paths)
    elif records[0]["case"]["kernel"].startswith("cpu."):
        rows = vendors_table.data_rows(sets, f"cpu.{records[0]['case']['operation']}.auto")
    elif records[0]["case"]["operation"] == "solve":
        rows = solve_table.data_rows(stem.removeprefix("solve_"), paths)
    elif records[0]["case"]["operation"] == "spgemm":
        rows = spgemm_gpu_table.data_rows(sets)
    else:
        rows = spmm_gpu_table.data_rows(sets, records[0]["case"]["operation"])
    return facts, rows


def relative(file, page):
    ups = len(page.parent.relative_to(ROOT).parts)
    common = 0
    there, here = file.relative_to(ROOT).parts, page.parent.relative_to(ROOT).parts
    while common < ups and there[common] == here[common]:
        common += 1
    return "/".join([".."] * (ups - common) + list(there[common:]))


def smallest(row, headings):
    numbers = [tables.number(row[heading.strip()]) for heading in headings.split(";")]
    return min((x for x in numbers if x is not None), default=None)


def ratios(rows, fraction):
    """[(ratio, row)] of the rows that have what 'A; B / C', or a column alone, needs."""
    above, slash, below = fraction.partition(" / ")
    for row in rows:
        top, bottom = smallest(row, above), smallest(row, below) if slash else 1
        if top and bottom:
            yield top / bottom, row


def name_of(row, without=()):
    """The case of a row: its first cell, and K if there is one that the group does not say."""
    name = next(iter(row.values()))
    return f"{name}, K = {row['K']}" if row.get("K", "-") != "-" and "K" not in without else name


def cell_of(page, row, heading):
    """The cell as it is; 'csrkit ms' and 'csrkit us' also come from 'csrkit s'."""
    seconds = heading[:-2] + "s"
    if heading in row:
        return row[heading]
    for unit, per_second in ((" ms", 1e3), (" us", 1e6)):
        if heading.endswith(unit) and seconds in row:
            return f"{per_second * tables.number(row[seconds]):.3g}"
    raise SystemExit(f"results_pages.py: {page}: its data has no column {heading}")


def verdicts_of(rows, fraction):
    """'71 / 3 / 1': won, level, lost. A speed-up is level where its interval, if it has one, includes 1."""
    def verdict(ratio, row):
        if fraction == "speed-up" and row.get("interval", "").endswith("level"):
            return 1
        return 0 if ratio > 1 else 2
    counts = [0, 0, 0]
    for ratio, row in rows:
        counts[verdict(ratio, row)] += 1
    return " / ".join(map(str, counts))


def table_of(page, data, options):
    rows = data.where(options.get("where", ""))
    if not rows:
        raise SystemExit(f"results_pages.py: {page}: no row fulfils {options['where']}")
    headings = [h.strip() for h in options["columns"].split(";")] if "columns" in options else list(rows[0])
    cells = [[cell_of(page, row, heading) for heading in headings] for row in rows]
    if "best" in options:
        first, last = (headings.index(name) for name in options["best"].split(".."))
        for row in cells:
            best = max(filter(None, map(tables.number, row[first:last + 1])), default=None)
            for i in range(first, last + 1):
                if best and tables.number(row[i]) == best:
                    row[i] = f"**{row[i]}**"
    return tables.markdown(headings, cells) + data.caption(page)


def mean_of(page, data, options):
    by = [heading.strip() for heading in options["by"].split(",")]
    groups = {}
    for ratio, row in ratios(data.where(options.get("where", "")), options["of"]):
        groups.setdefault(tuple(row[heading] for heading in by), []).append((ratio, row))
    cells = []
    for key, group in groups.items():
        low, at = min(group, key=lambda pair: pair[0])
        cells.append([*key, str(len(group)), f"{tables.geometric_mean([r for r, _ in group]):.2f}", f"{low:.2f}",
                      name_of(at, by), verdicts_of(group, options["of"])])
    return tables.markdown([*by, "cases", "geometric mean", "lowest", "at", "won / level / lost"], cells) + data.caption(
        page, is_short=True)


def summary_of(page, names):
    """Rows of docs/results/summary.tsv: one geometric mean each, with its machine and its lowest case."""
    _, specs = tables.read_tsv(RESULTS / "summary.tsv")
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = set(wanted) - {spec["name"] for spec in specs}
    if unknown:
        raise SystemExit(f"results_pages.py: {page}: summary.tsv has no row {', '.join(sorted(unknown))}")
    cells = []
    for spec in specs:
        if wanted and spec["name"] not in wanted:
            continue
        data = data_of(spec["data"])
        found = list(ratios(data.where(spec["where"]), spec["of"]))
        low, at = min(found, key=lambda pair: pair[0])
        matrices = len({re.sub(r" (f64|f32|f16|bf16)$", "", next(iter(row.values()))) for _, row in found})
        details = RESULTS / spec["page"]
        cells.append([f"[{spec['operation']}]({relative(details, page)})", spec["machine"], spec["against"],
                      f"{matrices} {spec['matrices']}", str(len(found)),
                      f"{tables.geometric_mean([r for r, _ in found]):.2f}", f"{low:.2f} ({name_of(at)})", verdicts_of(found, spec["of"]),
                      f"{data.facts['date']}, {data.facts.get('published') or data.facts['commit']}"])
    return tables.markdown(["operation", "machine", "against", "matrices", "cases", "speed-up, geometric mean",
                            "lowest case", "won / level / lost", "date, commit"], cells)


def picture_of(page, data, options, pictures):
    """The line that shows the picture; the picture itself goes to `pictures`, by file."""
    by = options["by"]
    speed = {(next(iter(row.values())), f"{by} = {row[by]}"): ratio
             for ratio, row in ratios(data.where(options.get("where", "")), options["of"])}
    if not speed:
        raise SystemExit(f"results_pages.py: {page}: nothing to draw")
    title = f"{options['title']} ({data.facts['date']})"
    file = ROOT / options["file"]
    pictures[file] = plot_speedup.bars_of(speed, title, "times as fast")
    return f"![{title}]({relative(file, page)})\n" + data.caption(page, is_short=True)


def generated(page, kind, arguments, pictures):
    if kind == "summary":
        return summary_of(page, arguments)
    name, *rest = [part.strip() for part in arguments.split(" | ")]
    options = dict(part.partition(" ")[::2] for part in rest)
    unknown = set(options) - {"where", "columns", "best", "of", "by", "file", "title"}
    if unknown:
        raise SystemExit(f"results_pages.py: {page}: unknown option {', '.join(sorted(unknown))}")
    if kind == "picture":
        return picture_of(page, data_of(name), options, pictures)
    return (table_of if kind == "table" else mean_of)(page, data_of(name), options)


def page_text(page, text, pictures):
    for match in MARK.finditer(text):
        try:
            text = tables.fill(text, match[0].rstrip("\n"), generated(page, match[1], match[2].strip(), pictures))
        except ValueError as error:
            raise SystemExit(f"results_pages.py: {page}: {error}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is out of date")
    options = parser.parse_args()
    pages = [page.resolve() for page in options.pages] or [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    stale, files, pictures = 0, {}, {}
    for page in pages:
        files[page] = page_text(page, page.read_text(encoding="utf-8"), pictures)
    for page, new in {**files, **pictures}.items():
        old = page.read_text(encoding="utf-8") if page.exists() else ""
        if new == old:
            continue
        if not options.check:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))
            continue
        stale += 1
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(page),
                                                   "from its data", n=0))
    if stale:
        print(f"results_pages.py: {stale} pages differ from their data; run results_pages.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
