#!/usr/bin/env python3
"""Strong and weak scaling of csr-spmm-dist in one command, under mpirun or srun, with a figure.

Usage: scaling.py MATRIX.csr --out DIR [--ranks LIST] [--threads N] [-k K] [--rounds N] [--repeat N]
                  [--launcher mpirun|srun|threads] [--tools DIR] [--weak FILE,FILE...] [--petsc PROGRAM]
                  [--profile FILE.json | --machine FILE.json] [--device gpu [--share-gpus]] [--ways LIST]

Strong: the matrix on every number of ranks, as groups of columns (1xP) and, where the file holds P parts
(csr-partition), as row parts (Px1), also with copies of rows of B sent as messages where ranks could read each
other's; beside one process with as many threads (csr-spmm-cpu). Weak: K columns
for every rank (1xP), and with --weak a matrix for each number of ranks, as row parts. --petsc measures PETSc's
product of the same matrix (studies/petsc_product), f64, on as many ranks. --profile, a cluster profile, sets
csr-forecast's times beside those measured; --machine is a machine profile of csr-probe --threads N, of which a
cluster profile is made: one node, whose exchanges go at the speed of copies. --device gpu: a GPU for each rank,
those of threads all driven by one process, beside csr-spmm-gpu on one; as row parts by both ways of exchange, and
as an all-gather of B with cuSPARSE on each GPU after it, as users do without lists. In every round all take turns; a
figure is the median of the rounds' medians. --ways leaves out what it does not name. A case that fails is named on
stderr with what it said, and left out; the exit code is then 1. Writes
DIR/scaling.jsonl, scaling.md and scaling.svg, and DIR/runs.jsonl, all that the commands reported.
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
import plot_speedup

SECONDS_PER_EXCHANGE = 5e-6  # between processes of one machine
WAYS = ("one process", "columns", "rows", "rows, peer", "rows, nccl", "rows, messages", "all-gather", "PETSc",
        "weak")


runs = []  # what every command said


class Failed(Exception):
    """A command that ended with another exit code than 0."""


def run(words, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(word) for word in words)} ended with {done.returncode}:\n{done.stderr}")
    runs.append(json.loads(done.stdout))
    return runs[-1]


def started(options, ranks, words):
    """The words that run a program as so many ranks, each with its own processors."""
    if options.launcher == "srun":
        return ["srun", "--mpi=pmix", "-n", ranks, "-c", options.threads, "-K", *words]
    if ranks * options.threads <= len(os.sched_getaffinity(0)):
        places = ["--map-by", f"slot:PE={options.threads}", "--bind-to", "core"]
    else:
        places = ["--oversubscribe", "--bind-to", "none"]
    return ["mpirun", *places, "-n", ranks, *words]


def product(options, matrix, ranks, grid, dense_cols, *more):
    words = [options.tools / "csr-spmm-dist", matrix, "-k", dense_cols, "--grid", grid, "--repeat", options.repeat,
             "--threads", options.threads, "--value-kind", options.kind, "--json", "--quiet", *more]
    if options.device == "gpu":
        words += ["--device", "gpu"] + ["--share-gpus"] * options.share_gpus
    if options.launcher == "threads":
        words += ["--ranks", ranks]
    else:
        words = started(options, ranks, words)
    record = run(words, options.threads)
    return record["median_seconds"], record["bytes"]["total"]


def one_process(options, threads):
    if options.device == "gpu":
        record = run([options.tools / "csr-spmm-gpu", options.matrix, "-k", options.dense_cols, "--repeat", options.repeat,
                      "--value-kind", options.kind, "--json", "--quiet"], threads)
        return record["median_seconds"], 0
    record = run([options.tools / "csr-spmm-cpu", options.matrix, "-k", options.dense_cols, "--repeat", options.repeat,
                  "--threads", threads, "--value-kind", options.kind, "--json", "--quiet"], threads)
    return record["median_seconds"], 0


def petsc(options, ranks, binary):
    words = [options.petsc, "-matrix", binary, "-k", options.dense_cols, "-repeat", options.repeat]
    return run(started(options, ranks, words), 1)["median_seconds"], 0


def profile_of(options):
    """The cluster profile to forecast with: that of the command line, or one node of this machine's processors."""
    if not options.machine:
        if options.launcher == "threads" or not options.profile or not os.path.exists(options.profile):
            return options.profile
        profile = json.loads(pathlib.Path(options.profile).read_text())
        profile.pop("peers", None)  # processes do not read each other's GPUs
        path = options.out / "profile.json"
        path.write_text(json.dumps(profile))
        return path
    device = next(one for one in json.loads(options.machine.read_text())["devices"] if one["device"] == "cpu")
    # A message between processes of one machine is copied into shared memory and out of it.
    copy = device["copy_bytes_per_second"] / 2
    profile = {"format": "csrkit cluster profile", "version": 1, "name": "this machine", "nodes": 1,
               "ranks_per_node": max(options.ranks), "cores_per_rank": options.threads,
               "rank_memory_bytes": device["memory_bytes"],
               "link": {"bytes_per_second": copy, "seconds_per_exchange": SECONDS_PER_EXCHANGE}, "device": device}
    path = options.out / "profile.json"
    path.write_text(json.dumps(profile))
    return path


def forecasts(options):
    """(way, ranks) -> seconds that csr-forecast says of the grid, of the file's kind of values."""
    profile = profile_of(options)
    if not profile:
        return {}
    words = [options.tools / "csr-forecast", options.matrix, "--ranks", ",".join(map(str, options.ranks)), "-k",
             options.dense_cols, "--profile", profile, "--json"]
    record = run(words, options.threads)
    ways = {}
    for grid in record["grids"]:
        ranks, parts = grid["ranks"], grid["row_parts"]
        if parts == 1:
            ways["columns", ranks] = grid["seconds"]
        if parts == ranks and (ranks == 1 or grid["parts_from"] == "file"):
            ways["rows", ranks] = grid["seconds"]
    return ways


def with_forecasts(options, records):
    ways = forecasts(options)
    for record in records:
        is_forecast = record["scaling"] == "strong" and (record["way"], record["ranks"]) in ways
        record["forecast_seconds"] = ways[record["way"], record["ranks"]] if is_forecast else None
    return records


def verdicts(records):
    """Of every number of ranks for which grids were forecast: the one that was to be the fastest, and what it lost."""
    lines = []
    for ranks in sorted({record["ranks"] for record in records}):
        grids = [record for record in records if record["ranks"] == ranks and record["forecast_seconds"]]
        if len(grids) < 2:
            continue
        chosen = min(grids, key=lambda record: record["forecast_seconds"])
        fastest = min(grids, key=lambda record: record["median_seconds"])
        times = chosen["median_seconds"] / fastest["median_seconds"]
        lines.append(f"{ranks} ranks: fastest by forecast {chosen['way']}, measured {fastest['way']}; "
                     f"the one forecast takes {times:.2f} times the other's time.")
    return lines


def levels(options, matrix):
    """The numbers of ranks for which a file holds parts: csr-spmm-dist says which, if it refuses."""
    found = set()
    for ranks in options.ranks:
        done = subprocess.run([options.tools / "csr-spmm-dist", matrix, "--ranks", str(ranks), "--grid", f"{ranks}x1",
                               "-k", "1", "--repeat", "1", "--warmup", "0", "--quiet"], capture_output=True, text=True)
        if done.returncode == 0:
            found.add(ranks)
    return found


def cases(options):
    """Those of all_cases that are asked for."""
    for case in all_cases(options):
        name = "weak" if case[0] == "weak" else case[1].partition(", cuSPARSE")[0]
        if name in options.ways:
            yield case


def all_cases(options):
    """(kind, way, ranks, K, a function that measures it)"""
    has_rows = any(way not in ("one process", "columns", "PETSc", "weak") for way in options.ways)
    parts = levels(options, options.matrix) if has_rows else set()
    for ranks in options.ranks:
        threads = ranks * options.threads
        if options.device == "cpu" or ranks == options.ranks[0]:  # one GPU has no other number of threads
            yield "strong", "one process", ranks, options.dense_cols, lambda t=threads: one_process(options, t)
        for way, grid in (("columns", f"1x{ranks}"), ("rows", f"{ranks}x1")):
            if way == "columns" and ranks > options.dense_cols or way == "rows" and ranks not in parts:
                continue
            yield ("strong", way, ranks, options.dense_cols,
                   lambda r=ranks, g=grid: product(options, options.matrix, r, g, options.dense_cols))
        if options.device == "cpu" and ranks in parts and ranks > 1:
            yield ("strong", "rows, messages", ranks, options.dense_cols,
                   lambda r=ranks: product(options, options.matrix, r, f"{r}x1", options.dense_cols, "--exchange", "messages"))
        if options.device == "gpu" and ranks in parts:
            for way, more in (("rows, peer", ["--exchange", "peer"]), ("rows, nccl", ["--exchange", "nccl"]),
                              ("all-gather, cuSPARSE", ["--all-gather", "--kernel", "vendor_cusparse",
                                                        "--nondeterministic"])):
                if ranks == 1 and way.startswith("rows,") or way == "rows, peer" and options.launcher != "threads" \
                        or way == "rows, nccl" and options.share_gpus:
                    continue
                yield ("strong", way, ranks, options.dense_cols,
                       lambda r=ranks, m=more: product(options, options.matrix, r, f"{r}x1", options.dense_cols, *m))
        if options.petsc:
            binary = options.out / "matrix.petsc"
            if not binary.exists():
                subprocess.run([options.tools / "csr-export", options.matrix, binary, "--quiet"], check=True)
            yield "strong", "PETSc", ranks, options.dense_cols, lambda r=ranks: petsc(options, r, binary)
        wide = options.dense_cols * ranks
        yield ("weak", "columns", ranks, wide,
               lambda r=ranks, k=wide: product(options, options.matrix, r, f"1x{r}", k))
    for ranks, matrix in zip(options.ranks, options.weak):
        yield ("weak", "rows", ranks, options.dense_cols,
               lambda r=ranks, m=matrix: product(options, m, r, f"{r}x1", options.dense_cols))


def measure(options):
    table = list(cases(options))
    seconds = {i: [] for i in range(len(table))}
    moved = {}
    for _ in range(options.rounds):
        for i, (*_, measured) in enumerate(table):
            if i not in seconds:
                continue
            try:
                time, moved[i] = measured()
            except Failed as failed:
                print(f"scaling.py: {failed}", file=sys.stderr)
                del seconds[i]
                continue
            seconds[i].append(time)
    options.has_failed = len(seconds) < len(table)
    if not seconds:
        sys.exit(1)
    return [{"scaling": kind, "way": way, "ranks": ranks, "threads": options.threads, "dense_cols": dense_cols,
             "median_seconds": statistics.median(seconds[i]), "rounds_seconds": seconds[i], "bytes": moved[i]}
            for i, (kind, way, ranks, dense_cols, _) in enumerate(table) if i in seconds]


def with_efficiency(records):
    """Strong: time of the least ranks over time, per rank. Weak: time of the least ranks over time. And, if it was
    measured, how many times as fast as one process."""
    alone = {record["ranks"]: record["median_seconds"] for record in records if record["way"] == "one process"}
    for record in records:
        one = alone.get(record["ranks"], alone[min(alone)] if len(alone) == 1 else None)
        record["speed_up"] = one / record["median_seconds"] if one and record["scaling"] == "strong" else None
        base = min((other for other in records if other["scaling"] == record["scaling"]
                    and other["way"] == record["way"]), key=lambda other: other["ranks"])
        gain = base["median_seconds"] / record["median_seconds"]
        more = record["ranks"] / base["ranks"]
        record["efficiency"] = gain / more if record["scaling"] == "strong" else gain
    return records


def table_of(options, records):
    gpu = "a GPU and " * (options.device == "gpu")
    lines = [f"{options.matrix.name}, {options.kind}, {gpu}{options.threads} threads a rank, {options.launcher}, "
             f"median of {options.rounds} rounds", "",
             "| scaling | way | ranks | K | ms | forecast ms | bytes moved | efficiency | times one process |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in records:
        forecast = f"{1000 * r['forecast_seconds']:.2f}" if r["forecast_seconds"] else "-"
        speed_up = f"{r['speed_up']:.2f}" if r["speed_up"] else "-"
        lines.append(f"| {r['scaling']} | {r['way']} | {r['ranks']} | {r['dense_cols']} | {1000 * r['median_seconds']:.2f} | "
                     f"{forecast} | {r['bytes']:,} | {r['efficiency']:.2f} | {speed_up} |")
    return "\n".join([*lines, "", *verdicts(records)]).rstrip("\n") + "\n"


def parse():
    parser = argparse.ArgumentParser(prog="scaling.py", usage=__doc__.split("Usage: ")[1].split("\n\n")[0],
                                     description=__doc__.split("\n")[0])
    numbers = lambda text: sorted({int(word) for word in text.split(",")})
    parser.add_argument("matrix", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for records, table and figure")
    parser.add_argument("--ranks", type=numbers, default=[1, 2], help="numbers of ranks (default: 1,2)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each rank (default: 1)")
    parser.add_argument("-k", dest="dense_cols", type=int, default=32, help="columns of B (default: 32)")
    parser.add_argument("--kind", default="f64", help="value kind (default: f64, as PETSc's)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of every case (default: 3)")
    parser.add_argument("--repeat", type=int, default=10, help="products a turn (default: 10)")
    parser.add_argument("--launcher", choices=("mpirun", "srun", "threads"),
                        default="srun" if "SLURM_JOB_ID" in os.environ else
                        "mpirun" if shutil.which("mpirun") else "threads")
    parser.add_argument("--tools", type=pathlib.Path, help="folder of the tools (default: the PATH's)")
    parser.add_argument("--weak", default=[], type=lambda text: text.split(","), help="a file for each of --ranks")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="what multiplies (default: cpu)")
    parser.add_argument("--ways", default=list(WAYS), type=lambda text: [way.strip() for way in text.split(";")],
                        help=f"which cases, with ; between them (default: {'; '.join(WAYS)})")
    parser.add_argument("--share-gpus", action="store_true", help="ranks may share GPUs, for a test")
    parser.add_argument("--petsc", type=pathlib.Path, help="the program petsc_product")
    profiles = parser.add_mutually_exclusive_group()
    profiles.add_argument("--profile", help="cluster profile, as csr-forecast takes it: forecast times in the table")
    profiles.add_argument("--machine", type=pathlib.Path, help="the same from csr-probe --threads N, for this machine")
    options = parser.parse_args()
    if min([options.threads, options.dense_cols, options.rounds, options.repeat, *options.ranks]) < 1:
        parser.error("numbers of ranks, threads, columns, rounds and products are at least 1")
    if unknown := [way for way in options.ways if way not in WAYS]:
        parser.error(f"--ways: '{unknown[0]}' is none of {'; '.join(WAYS)}")
    if options.share_gpus and (options.device != "gpu" or options.launcher != "threads"):
        parser.error("--share-gpus is about GPUs of one process: --device gpu --launcher threads")
    if options.weak and len(options.weak) != len(options.ranks):
        parser.error(f"--weak names {len(options.weak)} files for {len(options.ranks)} numbers of ranks")
    if options.tools is None:
        found = shutil.which("csr-spmm-dist") or parser.error("csr-spmm-dist is not on the PATH; name --tools")
        options.tools = pathlib.Path(found).parent
    return options


def with_facts(options, records):
    """What a table of several files must know of each record."""
    gpus = []
    if options.device == "gpu" and shutil.which("nvidia-smi"):
        gpus = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True,
                              text=True).stdout.split("\n")[:-1]
    facts = {"matrix": options.matrix.stem, "kind": options.kind, "launcher": options.launcher, "device": options.device,
             "rounds": options.rounds, "repeat": options.repeat, "time": datetime.datetime.now(datetime.timezone.utc).isoformat(),
             "gpus": gpus, "machine": next((run["machine"] for run in runs if "machine" in run), {})}
    return [{**record, **facts} for record in records]


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    records = with_facts(options, with_forecasts(options, with_efficiency(measure(options))))
    (options.out / "scaling.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (options.out / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in runs))
    text = table_of(options, records)
    (options.out / "scaling.md").write_text(text)
    bars = {(f"{r['scaling']} {r['way']}, {r['ranks']}", "efficiency"): r["efficiency"] for r in records}
    (options.out / "scaling.svg").write_text(
        plot_speedup.bars_of(bars, f"{options.matrix.name}: efficiency by number of ranks", "efficiency"))
    print(text, end="")
    sys.exit(1 if options.has_failed else 0)


if __name__ == "__main__":
    main()
