#!/usr/bin/env python3
"""The table of orderings by graphs, and whether the advice was right.

Every graph is reordered by every method. A row says what the ordering cost, what it did to the
locality of the pattern and of the reads of B, what SpMM on the CPU takes before and after at K = 32
and 256, and after how many products the ordering has paid back. Graphs are .csr files; --planted adds
generated graphs with hidden communities, where the order in which they were planted is known, as a
row of its own. With --machine, a profile of csr-probe, the advice of csr-reorder --advise is asked for
and compared with what was measured. Measured on a quiet machine, or it means nothing.

What runs quietly, one after the other: orderings (all threads) and products (csr-bench). What does not
matter to a clock runs side by side before and between: METIS (one thread each), advice, locality.
Every result is a line in --records as soon as it is there. A run with the same --records and
--work-dir goes on where the last one stopped; --seconds says when it has to stop. --render makes the
tables of the records alone. --data writes them as reordering.tsv and reordering_advice.tsv, for the pages
that results_pages.py writes.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
import tables

WIDTHS = (32, 256)
CACHE_WIDTH, CACHE_BYTES = 128, 1 << 20
GIVEN, PLANTED = "as given", "as planted"
STEPS = ("orders", "products", "locality", "advice")
AS_GOOD = 1.10  # advice is right if what it recommends takes at most so many times the best


class Refusal(RuntimeError):
    pass


class Run:
    """The options, the records so far, and what is left of the time."""

    def __init__(self, options):
        self.options = options
        self.folder = options.work_dir
        self.deadline = time.monotonic() + options.seconds if options.seconds else math.inf
        self.records = collections.defaultdict(dict)  # kind -> (graph, order) -> record
        if options.records and options.records.exists():
            for line in options.records.read_text().splitlines():
                self._keep(json.loads(line))

    def _keep(self, record):
        self.records[record["kind"]][record["graph"], record.get("order")] = record

    def add(self, kind, graph, order, **facts):
        record = {"kind": kind, "graph": graph, "order": order, **facts}
        self._keep(record)
        if self.options.records:
            with open(self.options.records, "a") as lines:
                print(json.dumps(record), file=lines)

    def has(self, kind, graph, order=None):
        return (graph, order) in self.records[kind]

    def left(self):
        return self.deadline - time.monotonic()

    def tool(self, *command, threads=None, limit=math.inf):
        """What a tool reports; Refusal with its reason, or that the time is up."""
        limit = min(limit, self.left())
        if limit <= 0:
            raise Refusal("no time left")
        words = [str(self.options.tools / command[0]), *map(str, command[1:]), "--json"]
        environment = dict(os.environ)
        if threads:
            # Side by side: bound to places, all of them would share the first.
            for name in ("OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"):
                environment.pop(name, None)
            environment["OMP_NUM_THREADS"] = str(threads)
        try:
            done = subprocess.run(words, env=environment, capture_output=True, text=True,
                                  timeout=None if math.isinf(limit) else limit)
        except subprocess.TimeoutExpired:
            raise Refusal("no time left" if self.left() <= 0 else f"stopped after {limit:.0f} s") from None
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if ": error: " in line]
            reason = said[0].split(": error: ", 1)[1].split(";")[0] if said else f"exit code {done.returncode}"
            raise Refusal(reason[:90])
        return json.loads(done.stdout) if done.stdout else {}


class Graph:
    def __init__(self, path, planted=None):
        self.path, self.planted = path, planted
        self.name = path.name.removesuffix(".csr").removesuffix(".shuffled")

    def file(self, folder, order):
        if order == GIVEN:
            return self.path
        return self.planted if order == PLANTED else folder / f"{self.name}.{order}.csr"


def methods_of(run):
    rows = run.tool("csr-reorder", "--list")["rows"]
    return [row["name"] for row in rows if "NOT AVAILABLE" not in row["summary"] and row["name"] != "identity"]


def plant(run, nnz):
    """A shuffled graph with communities of 32 in 64 coarse ones, and the same as it was planted."""
    paths = []
    for order in ("shuffled", "planted"):
        paths.append(run.folder / f"planted-{nnz // 1_000_000}M.{order}.csr")
        if not paths[-1].exists():
            run.tool("csr-generate", "communities", paths[-1], "--set", f"n={nnz // 10}", "--set", f"nnz={nnz}",
                     "--set", "undirected=yes", "--set", f"order={order}", "--seed", 1)
    return Graph(*paths)


def methods_for(graph, methods, run):
    """A big graph gets the methods that --big-methods names, and METIS only below its size."""
    nnz = run.records["shape"][graph.name, None]["nnz"]
    names = run.options.big_methods.split(",") if nnz > run.options.big else methods
    return [name for name in names
            if name in methods and not (name.startswith("metis-") and nnz > run.options.metis_most)]


def order_file(run, graph, method, threads, limit):
    """Makes the reordered file; what it cost is recorded the first time."""
    path = graph.file(run.folder, method)
    reason = run.records["order"].get((graph.name, method), {}).get("reason")
    if reason or path.exists():
        return
    command = ["csr-reorder", graph.path, path, "--method", method]
    if method.startswith("metis-"):
        command += ["--time-limit", min(limit, max(1, run.left()))]
    try:
        seconds = run.tool(*command, threads=threads, limit=limit + 10)["order_seconds"]
        if not run.has("order", graph.name, method):
            run.add("order", graph.name, method, seconds=seconds)
    except Refusal as refusal:
        if run.left() > 0:
            run.add("order", graph.name, method, reason=str(refusal))


def locality_of(run, graph, order):
    machine = ["--machine", run.options.machine] if run.options.machine else []
    facts = run.tool("csr-info", graph.file(run.folder, order), "--locality", *machine, "-k",
                     ",".join(map(str, sorted({*WIDTHS, CACHE_WIDTH}))), threads=1)["locality"]
    hits = next(cache["hit_share"] for cache in facts["caches"]
                if cache["dense_cols"] == CACHE_WIDTH and cache["cache_bytes"] == CACHE_BYTES)
    forecast = {row["dense_cols"]: row["seconds"] for row in facts.get("forecasts", []) if row["device"] == "cpu"}
    run.add("locality", graph.name, order, tile=facts["entries_per_touched_tile"],
            vector=facts["entries_per_vector_of_8"], distance=facts["mean_distance"], hits=hits, forecast=forecast)


def advice_of(run, graph):
    advice = run.tool("csr-reorder", graph.path, "--advise", "--machine", run.options.machine, "-k",
                      ",".join(map(str, WIDTHS)), "--time-limit", 10, threads=1)["advice"]
    cpu = next(device for device in advice if device["device"] == "cpu")
    run.add("advice", graph.name, None, recommended=dict(zip(WIDTHS, cpu["recommended"])),
            now=dict(zip(WIDTHS, cpu["seconds_now"])),
            forecast={row["method"]: dict(zip(WIDTHS, row["seconds"])) for row in cpu["methods"] if row["seconds"]})


def measure(run, files):
    """Products of all files, --passes times over, forwards and backwards in turn: the least median of each
    counts, so that what was slow for a while is not taken for what an ordering did. One csr-bench a pass; it
    keeps what it has when its time is up."""
    todo = [path for (graph, order), path in files.items() if not run.has("product", graph, order)]
    medians = {}
    for turn in range(run.options.passes):
        lines = run.folder / f"products.{turn}.jsonl"
        if todo and run.left() > 0:
            command = [run.options.tools / "csr-bench", *(todo[::-1] if turn % 2 else todo),
                       "-k", ",".join(map(str, WIDTHS)), "--kernels", "cpu.auto", "--value-kind", "f32", "--warmup", "3",
                       "--repeat", run.options.repeat, "--median-within", "2", "--max-seconds", run.options.case_seconds,
                       "--check=" + ("none" if turn else "sampled"), "--records", lines, "--resume", "--quiet"]
            try:
                subprocess.run(list(map(str, command)), timeout=None if math.isinf(run.left()) else run.left())
            except subprocess.TimeoutExpired:
                print("no time left for all products", file=sys.stderr)
        for line in lines.read_text().splitlines() if lines.exists() else []:
            record = json.loads(line)
            if record["status"] == "done":
                case = pathlib.Path(record["matrix"]).name, record["dense_cols"]
                medians[case] = min(record["median_seconds"], medians.get(case, math.inf))
    for (graph, order), path in files.items():
        seconds = {width: medians.get((path.name, width)) for width in WIDTHS}
        if all(seconds.values()) and not run.has("product", graph, order):
            run.add("product", graph, order, seconds=seconds)


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except Refusal as refusal:
        print(f"{call.__name__} {' '.join(str(getattr(a, 'name', a)) for a in arguments[1:])}: {refusal}",
              file=sys.stderr, flush=True)


def collect(run, graphs):
    options = run.options
    methods = options.methods.split(",") if options.methods else methods_of(run)
    clock = time.monotonic()

    def said(step):
        print(f"{step}: {time.monotonic() - clock:.0f} s", file=sys.stderr, flush=True)

    for graph in graphs:
        if not run.has("shape", graph.name):
            facts = run.tool("csr-info", graph.path)
            run.add("shape", graph.name, None, rows=facts["rows"], cols=facts["cols"], nnz=facts["nnz"])
    pairs = [(graph, method) for graph in graphs for method in methods_for(graph, methods, run)]
    pairs.sort(key=lambda pair: -run.records["shape"][pair[0].name, None]["nnz"])
    cores = max(1, (os.cpu_count() or 1) - 1)
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        jobs = [pool.submit(attempt, order_file, run, graph, method, 1, options.metis_limit)
                for graph, method in pairs if method.startswith("metis-") or run.has("order", graph.name, method)]
        if options.machine and "advice" in options.steps:
            jobs += [pool.submit(attempt, advice_of, run, graph) for graph in graphs
                     if not run.has("advice", graph.name) and methods_for(graph, methods, run) == methods]
    said("METIS and advice")
    for graph, method in pairs:
        if not method.startswith("metis-") and not run.has("order", graph.name, method):
            attempt(order_file, run, graph, method, None, options.method_limit)
    said("orderings")
    files = {}
    for graph in graphs:
        for order in [GIVEN, *([PLANTED] if graph.planted else []), *methods_for(graph, methods, run)]:
            if graph.file(run.folder, order).exists():
                files[graph.name, order] = graph.file(run.folder, order)
    of_name = {graph.name: graph for graph in graphs}
    if "products" in options.steps:
        measure(run, files)
        said("products")
    if "locality" not in options.steps:
        return
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        jobs = [pool.submit(attempt, locality_of, run, of_name[name], order) for name, order in files
                if not run.has("locality", name, order)]
    for job in jobs:
        job.result()
    said("locality")


def of_width(by_width, width):
    """JSON knows only text as a key."""
    return by_width.get(width, by_width.get(str(width)))


def orders_of(run, graph):
    kinds = ("order", "product", "locality")
    orders = {order: None for kind in kinds for name, order in run.records[kind] if name == graph}
    first = [order for order in (GIVEN, PLANTED) if order in orders]
    return first + sorted(order for order in orders if order not in first)


HEADINGS = ["graph", "rows", "nnz", "order", "order s", "M nnz/s", "mean distance", "nnz per tile", "nnz per 8x1",
            "reads that hit",
            *(f"{what} {width} {unit}" for width in WIDTHS
              for what, unit in (("SpMM K =", "ms"), ("K =", "pays back after")))]
ADVICE_HEADINGS = ["graph", "K", "recommended", "speed-up", "best", "best speed-up", "recommended / best"]


def rows_of(run):
    """The cells under HEADINGS. An order that could not be made says why under "order s"."""
    rows = []
    for (graph, _), shape in run.records["shape"].items():
        before = run.records["product"].get((graph, GIVEN))
        for order in orders_of(run, graph):
            cells = [graph, f"{shape['rows']:,}", f"{shape['nnz']:,}", order]
            made = run.records["order"].get((graph, order), {})
            if "reason" in made:
                rows.append(cells + [made["reason"]] + [""] * (len(HEADINGS) - len(cells) - 1))
                continue
            cost = made.get("seconds")
            cells += [f"{cost:.3f}" if cost else "", f"{shape['nnz'] / cost / 1e6:.1f}" if cost else ""]
            place = run.records["locality"].get((graph, order))
            cells += [f"{place['distance']:.4f}", f"{place['tile']:.2f}", f"{place['vector']:.2f}",
                      f"{100 * place['hits']:.1f} %"] if place else [""] * 4
            now = run.records["product"].get((graph, order))
            for width in WIDTHS:
                if not now:
                    cells += ["", ""]
                    continue
                seconds = of_width(now["seconds"], width)
                gain = of_width(before["seconds"], width) - seconds if before else 0
                cells += [f"{1e3 * seconds:.3f}",
                          "" if not cost else f"{math.ceil(cost / gain):,}" if gain > 0 else "never"]
            rows.append(cells)
    return rows


def judged(run):
    """Per graph and K: the recommended order, what it takes, the best there is, and whether that is right."""
    for (graph, _), advice in run.records["advice"].items():
        for width in WIDTHS:
            times = {order: of_width(product["seconds"], width)
                     for (name, order), product in run.records["product"].items() if name == graph}
            times.pop(PLANTED, None)
            named = of_width(advice["recommended"], width)
            chosen = GIVEN if named == "leave it" else named
            if GIVEN not in times or chosen not in times:
                continue
            best = min(times, key=times.get)
            yield {"graph": graph, "width": width, "chosen": named, "ratio": times[chosen] / times[best], "best": best,
                   "gain": times[GIVEN] / times[chosen], "best_gain": times[GIVEN] / times[best]}


def advice_rows(cases):
    return [[case["graph"], str(case["width"]), case["chosen"], f"{case['gain']:.2f} x", case["best"],
             f"{case['best_gain']:.2f} x", f"{case['ratio']:.2f}"] for case in cases]


def advice_text(cases):
    if not cases:
        return ""
    right = [case for case in cases if case["ratio"] <= AS_GOOD]
    idle = [case for case in cases if case["best_gain"] <= 1.05]
    left = [case for case in idle if case["chosen"] == "leave it"]
    return (f"\nAdvice (`csr-reorder --advise`, CPU): what it recommends is within {100 * (AS_GOOD - 1):.0f} % of the best "
            f"measured in {len(right)} of {len(cases)} cases ({100 * len(right) / len(cases):.0f} %). Where nothing gains "
            f"more than 5 % ({len(idle)} cases) it says \"leave it\" in {len(left)}.\n\n"
            + tables.markdown(ADVICE_HEADINGS, advice_rows(cases)))


def write_data(folder, rows, cases):
    facts = {"machine": platform.processor() or platform.machine(), "date": time.strftime("%Y-%m-%d")}
    tables.write_tsv(folder / "reordering.tsv", facts, HEADINGS, rows)
    tables.write_tsv(folder / "reordering_advice.tsv", facts, ADVICE_HEADINGS, advice_rows(cases))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=pathlib.Path, help=".csr files")
    parser.add_argument("--planted", type=int, nargs="*", default=[], metavar="NNZ", help="e.g. 10000000")
    parser.add_argument("--methods", help="comma-separated; default: all there are")
    parser.add_argument("--big", type=float, default=5e7, metavar="NNZ", help="from here on only --big-methods")
    parser.add_argument("--big-methods", default="degree,rcm,community,row-similarity")
    parser.add_argument("--metis-most", type=float, default=2e7, metavar="NNZ", help="METIS only below")
    parser.add_argument("--metis-limit", type=float, default=60, metavar="S", help="seconds per call of METIS")
    parser.add_argument("--method-limit", type=float, default=60, metavar="S", help="seconds per other ordering")
    parser.add_argument("--repeat", type=int, default=9, help="least number of measured products")
    parser.add_argument("--passes", type=int, default=3, help="how often all products are measured, the least counts")
    parser.add_argument("--case-seconds", type=float, default=0.2, metavar="S", help="most seconds of products per case")
    parser.add_argument("--steps", default=",".join(STEPS), help="orders and products need a quiet machine, locality and "
                        "advice any (default: all)")
    parser.add_argument("--machine", type=pathlib.Path, help="a profile of csr-probe: forecasts and advice")
    parser.add_argument("--tools", type=pathlib.Path, default="build/release/tools")
    parser.add_argument("--work-dir", type=pathlib.Path, default="build/reorder-table")
    parser.add_argument("--records", type=pathlib.Path, help="every result as a line of JSON; what is there stays")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--data", type=pathlib.Path, metavar="FOLDER", help="write the tables there, as TSV")
    parser.add_argument("--render", action="store_true", help="measure nothing: the table of --records")
    parser.add_argument("--dry-run", action="store_true", help="a tiny graph: does everything run?")
    options = parser.parse_args()
    if options.dry_run:
        options.planted, options.repeat, options.passes = [20_000], 2, 2
    if not options.render and not options.graphs and not options.planted:
        parser.error("nothing to measure: name .csr files, or --planted NNZ")
    if options.render and not (options.records and options.records.exists()):
        parser.error("--render needs --records that exist")
    options.steps = options.steps.split(",")
    if not set(options.steps) <= set(STEPS):
        parser.error(f"--steps knows {', '.join(STEPS)}")
    options.work_dir.mkdir(parents=True, exist_ok=True)
    run = Run(options)
    try:
        if not options.render:
            collect(run, [Graph(path) for path in options.graphs] + [plant(run, nnz) for nnz in options.planted])
    except Refusal as refusal:
        print(f"not all was measured: {refusal}", file=sys.stderr)
    rows, cases = rows_of(run), list(judged(run))
    if options.data:
        write_data(options.data, rows, cases)
    elif rows:
        print(tables.markdown(HEADINGS, rows) + advice_text(cases), end="")


if __name__ == "__main__":
    main()
