"""Reads what was measured, and puts it in the order of the report."""
import json
import pathlib

from report.command_line import InputError, UsageError

VENDORS = ("vendor_cusparse", "vendor_mkl", "vendor_eigen")


class Case:
    """One record that is done. `dataset` and `order` name the matrix: 'reddit', 'degree'."""

    def __init__(self, record):
        case = record["case"]
        self.record = record
        self.matrix = record["matrix"]
        self.digest = case["matrix_xxh3_128"]
        self.kernel = case["kernel"]
        self.operation = case.get("operation", "spmm")
        self.dense_cols = case["dense_cols"] or 0  # 0: a sparse product
        self.caches = case["caches"]
        self.value_kind = case["value_kind"]
        self.rows, self.cols, self.nnz = record["rows"], record["cols"], record["nnz"]
        self.seconds = record["median_seconds"]
        self.interval = record.get("median_interval_seconds") or [min(record["samples_seconds"]),
                                                                  max(record["samples_seconds"])]
        self.gflops = record["gflops"]
        self.cost = record["cost"]
        self.phases = record.get("phases") or {}
        self.check = record.get("check")
        self.gpu = case.get("gpu")
        self.order, self.base_digest = order_of(record.get("history") or [])
        self.order_seconds = (record.get("phases") or {}).get("reordering_seconds")
        stem = pathlib.Path(self.matrix).name.removesuffix(".csr")
        self.dataset = stem
        # Kernels of different devices may be compared, all else must be the same.
        self.setting = (self.dense_cols, self.caches, self.value_kind, case.get("transpose", False),
                        case.get("semiring", "plus-times"))

    def check_text(self):
        if self.check is None:
            return "none"
        return "sampled" if self.check["sampled"] else "full"


def order_of(history):
    """('degree', digest of the file that was reordered), or ('', None)."""
    methods, base = [], None
    for step in history:
        if pathlib.Path(step.get("tool", "")).name != "csr-reorder":
            continue
        words = step.get("command_line", [])
        method = [words[i + 1] if word in ("--method", "--then") and i + 1 < len(words) else word.partition("=")[2]
                  for i, word in enumerate(words) if word.partition("=")[0] in ("--method", "--then")]
        if "--undo" in words:
            methods, base = [], None
        elif method:
            base = base or (step.get("inputs_xxh3_128") or [None])[0]
            methods += method
    return "+".join(methods), base


class Bundle:
    def __init__(self):
        self.cases = []       # of Case, the last record of each
        self.failures = []    # (what, why)
        self.throttled = []   # names of cases
        self.orders = {}      # file name of a reordered matrix -> report of csr-reorder
        self.searches = []    # records of grid searches
        self.schedules = []   # records of a study of OpenMP schedules
        self.machines = []    # (facts, [command lines])
        self.kernel = self.against = ""

    def kernels(self):
        return list(dict.fromkeys(case.kernel for case in self.cases))

    def settings(self):
        return sorted({case.setting for case in self.cases}, key=str)

    def find(self, like, kernel):
        for case in self.cases:
            if case.kernel == kernel and case.digest == like.digest and case.setting == like.setting:
                return case
        return None


def read(paths, kernel, against):
    bundle = Bundle()
    last = {}
    for path in paths:
        for place, item in items_of(path):
            add(bundle, last, place, item)
    names = {}
    for record in last.values():
        if record["status"] == "done":
            try:
                case = Case(record)
            except (KeyError, TypeError) as error:
                raise InputError(f"{record['matrix']}: expected a record with schema 1, found none with {error}; "
                                 "measure again with this version of csr-bench") from error
            bundle.cases.append(case)
            if not case.order:
                names[case.digest] = case.dataset
            if (record.get("clocks") or {}).get("throttled"):
                bundle.throttled.append(name_of(record))
        else:
            bundle.failures.append((name_of(record), record.get("reason", "")))
    for case in bundle.cases:
        if case.order:  # under the name of the matrix it was made of
            case.dataset = names.get(case.base_digest, case.dataset.partition(".")[0])
    if not bundle.cases and not bundle.searches and not bundle.schedules:
        raise InputError(f"{paths[0]}:1: expected records of csr-bench with status done, found none")
    choose_kernels(bundle, kernel, against)
    return bundle


def items_of(path):
    text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    try:
        whole = json.loads(text)
        items = whole if isinstance(whole, list) else [whole]
        yield from ((f"{path}:1", item) for item in items)
        return
    except ValueError:
        pass
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield f"{path}:{number}", json.loads(line)
        except ValueError as error:
            if number == len(lines):  # cut short by a crash: csr-bench --resume makes it again
                continue
            raise InputError(f"{path}:{number}: expected a record (a JSON object), found something else; "
                             "name files that csr-bench --records or csr-reorder --json wrote") from error


def add(bundle, last, place, item):
    if not isinstance(item, dict):
        raise InputError(f"{place}: expected a record (a JSON object), found something else")
    if "case" in item and "status" in item:
        last[json.dumps(item["case"])] = item
        facts = dict(item.get("machine") or {})
        facts.pop("slurm_job", None)
        command = " ".join(item.get("command_line") or [])
        for known, commands in bundle.machines:
            if known == facts:
                if command not in commands:
                    commands.append(command)
                return
        bundle.machines.append((facts, [command]))
    elif "order_seconds" in item and "output" in item:
        bundle.orders[pathlib.Path(item["output"]).name] = item
    elif "schedule" in item and {"matrix", "kernel", "dense_cols", "threads", "gflops"} <= item.keys():
        bundle.schedules.append(item)
    elif isinstance(item.get("seconds"), list) and "matrix" in item:
        bundle.searches.append(item)
    else:
        raise InputError(f"{place}: expected a record of csr-bench, a report of csr-reorder --json, a record of "
                         f"a grid search or of a study of schedules, found an object with {', '.join(list(item)[:4]) or 'nothing'}")


def name_of(record):
    case = record["case"]
    cols = f", K {case['dense_cols']}" if case["dense_cols"] else ""
    return f"{pathlib.Path(record['matrix']).name}, {case['kernel']}{cols}, {case['caches']}"


def choose_kernels(bundle, kernel, against):
    names = bundle.kernels()
    for wanted in (kernel, against):
        if wanted and wanted not in names:
            raise UsageError(f"no record is of {wanted}; there are {', '.join(names)}")
    first = [name for name in ("gpu.spmm.auto", "cpu.spmm.auto", "gpu.spgemm.auto", "cpu.spgemm.auto")
             if name in names] or names[:1] or [""]
    bundle.kernel = kernel or first[0]
    room = bundle.kernel.rpartition(".")[0]
    rivals = [f"{room}.{vendor}" for vendor in VENDORS] + [f"{room}.row_loop"]
    rivals += [name for name in names if name != bundle.kernel]
    bundle.against = against or next((name for name in rivals if name in names and name != bundle.kernel), "")
