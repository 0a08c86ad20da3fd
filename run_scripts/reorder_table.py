#!/usr/bin/env python3
"""The table of orderings by graphs in docs/reordering.md.

Every graph is reordered by every method. A row says what the ordering cost, what it did to the
locality of the pattern and of the reads of B, what SpMM on the CPU takes before and after at K = 32
and 256, and after how many products the ordering has paid back. Graphs are .csr files; --planted adds
generated graphs with hidden communities, where the order in which they were planted is known, as a
row of its own. Measured on a quiet machine, or it means nothing.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys

WIDTHS = (32, 256)
CACHE_WIDTH, CACHE_BYTES = 128, 1 << 20
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def run(*command, threads=None):
    environment = dict(os.environ, **({"OMP_NUM_THREADS": str(threads)} if threads else {}))
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else f"code {done.returncode}")
    return json.loads(done.stdout) if done.stdout else {}


def methods_of(tools):
    rows = run(tools / "csr-reorder", "--list", "--json")
    return [row["name"] for row in rows if "NOT AVAILABLE" not in row["summary"] and row["name"] != "identity"]


def plant(tools, folder, nnz):
    """A shuffled graph with communities of 32 in 64 coarse ones, and the same as it was planted."""
    paths = []
    for order in ("shuffled", "planted"):
        path = folder / f"planted-{nnz // 1_000_000}M.{order}.csr"
        if not path.exists():
            run(tools / "csr-generate", "communities", path, "--set", f"n={nnz // 10}", "--set", f"nnz={nnz}",
                "--set", "undirected=yes", "--set", f"order={order}", "--seed", 1, "--json")
        paths.append(path)
    return paths


def measured(tools, matrix):
    """Locality and SpMM times of one file."""
    locality = run(tools / "csr-info", matrix, "--locality", "-k", CACHE_WIDTH, "--json")["locality"]
    hits = next(cache["hit_share"] for cache in locality["caches"]
                if cache["dense_cols"] == CACHE_WIDTH and cache["cache_bytes"] == CACHE_BYTES)
    seconds = {}
    for width in WIDTHS:
        seconds[width] = run(tools / "csr-spmm-cpu", matrix, "-k", width, "--warmup", 3, "--repeat", 9,
                             "--json")["median_seconds"]
    return {"tile": locality["entries_per_touched_tile"], "vector": locality["entries_per_vector_of_8"],
            "distance": locality["mean_distance"], "hits": hits, "seconds": seconds}


def ordered(tools, graph, method, folder, limit, threads):
    """The reordered file and what making it cost."""
    path = folder / f"{graph.stem}.{method}.csr"
    command = [tools / "csr-reorder", graph, path, "--method", method, "--json"]
    if method.startswith("metis-"):
        command += ["--time-limit", limit]
    return path, run(*command, threads=threads)["order_seconds"]


def break_even(cost, before, after):
    return math.ceil(cost / (before - after)) if after < before else None


def record_of(graph, method, cost, nnz, before, now):
    return {"graph": graph.stem.replace(".shuffled", ""), "method": method, "nnz": nnz, "order_seconds": cost, **now,
            "break_even": {width: break_even(cost, before["seconds"][width], now["seconds"][width])
                           for width in WIDTHS} if cost is not None else {}}


def table_of(records):
    lines = ["| graph | order | seconds | M nnz/s | mean distance | nnz / tile | nnz / 8x1 | reads that hit | "
             + " | ".join(f"SpMM K={w}, ms | pays back" for w in WIDTHS) + " |",
             "|---|---|--:|--:|--:|--:|--:|--:|" + "--:|--:|" * len(WIDTHS)]
    for r in records:
        if "reason" in r:
            lines.append(f"| {r['graph']} | {r['method']} | {r['reason']} |" + " |" * (5 + 2 * len(WIDTHS)))
            continue
        cost = r["order_seconds"]
        cells = [r["graph"], r["method"], f"{cost:.3f}" if cost else "", f"{r['nnz'] / cost / 1e6:.1f}" if cost else "",
                 f"{r['distance']:.4f}", f"{r['tile']:.2f}", f"{r['vector']:.2f}", f"{100 * r['hits']:.1f} %"]
        for width in WIDTHS:
            count = r["break_even"].get(width)
            cells += [f"{1e3 * r['seconds'][width]:.3f}",
                      "" if not cost else "never" if count is None else f"{count:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_page(page, table):
    text = page.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    page.write_text(head + BEGIN + "\n" + table + END + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=pathlib.Path, help=".csr files")
    parser.add_argument("--planted", type=int, nargs="*", default=[], metavar="NNZ", help="e.g. 10000000")
    parser.add_argument("--methods", help="comma-separated; default: all there are")
    parser.add_argument("--tools", type=pathlib.Path, default="build/release/tools")
    parser.add_argument("--work-dir", type=pathlib.Path, default="build/reorder-table")
    parser.add_argument("--records", type=pathlib.Path, help="every row as a line of JSON")
    parser.add_argument("--page", type=pathlib.Path, help="docs/reordering.md: put the table between its marks")
    parser.add_argument("--metis-limit", type=float, default=60, help="seconds per call of METIS")
    parser.add_argument("--dry-run", action="store_true", help="a tiny graph: does everything run?")
    options = parser.parse_args()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    if options.dry_run:
        options.planted = [20_000]
    tools, folder = options.tools, options.work_dir
    methods = options.methods.split(",") if options.methods else methods_of(tools)
    pairs = [(graph, None) for graph in options.graphs] + [plant(tools, folder, nnz) for nnz in options.planted]
    if not pairs:
        parser.error("nothing to measure: name .csr files, or --planted NNZ")

    def report(record):
        records.append(record)
        if options.records:
            with open(options.records, "a") as lines:
                print(json.dumps(record), file=lines)

    records = []
    # METIS has one thread: its calls run side by side, and nothing is measured meanwhile.
    slow = [(graph, method) for graph, _ in pairs for method in methods if method.startswith("metis-")]
    with concurrent.futures.ThreadPoolExecutor(max(1, min(len(slow), (os.cpu_count() or 1) // 2))) as pool:
        made = {key: pool.submit(ordered, tools, *key, folder, options.metis_limit, 1) for key in slow}
    for graph, planted in pairs:
        before = measured(tools, graph)
        nnz = run(tools / "csr-info", graph, "--json")["nnz"]
        report(record_of(graph, "as given", None, nnz, before, before))
        if planted:
            report(record_of(graph, "as planted", None, nnz, before, measured(tools, planted)))
        for method in methods:
            try:
                future = made.get((graph, method))
                path, cost = future.result() if future else ordered(tools, graph, method, folder,
                                                                    options.metis_limit, None)
            except RuntimeError as refusal:
                name = graph.stem.replace(".shuffled", "")
                report({"graph": name, "method": method, "reason": str(refusal).split(": ", 2)[-1][:90]})
                continue
            report(record_of(graph, method, cost, nnz, before, measured(tools, path)))
            path.unlink()
            print(f"{graph.stem}: {method}", file=sys.stderr, flush=True)
    table = table_of(records)
    if options.page:
        write_page(options.page, table)
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
