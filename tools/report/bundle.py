"""Reads what was measured, and puts it in the order of the report."""
import json
import os
import pathlib
import stat

from report import json_reader
from report.command_line import InputError, UsageError
from report.json_reader import Field

LEAST_RATE = 1e-15  # GFLOP/s; pictures of schedules have a logarithmic scale
# Kernels that had other names when records were written; tools/bench/renamed_kernels.cpp has the same table.
RENAMED = {
    "gpu.spgemm.row_bins": "gpu.spgemm.adaptive_rows",
    "gpu.spgemm.v4_prefix_sum": "gpu.spgemm.v5_prefix_sum",
    "cpu.spmm.unrolled_4": "cpu.spmm.unrolled:4",
    "cpu.spmm.unrolled_8": "cpu.spmm.unrolled:8",
    "cpu.spmm.unrolled_16": "cpu.spmm.unrolled:16",
    "cpu.spmm.unrolled_32": "cpu.spmm.unrolled:32",
}
VENDORS = ("vendor_cusparse", "vendor_mkl", "vendor_eigen")


class Case:
    """One record that is done. `dataset` and `order` name the matrix: 'reddit', 'degree'."""

    def __init__(self, record):
        case = record["case"]
        self.matrix = record["matrix"].text()
        self.folder = record.optional("folder", Field.text) or ""
        self.digest = case["matrix_xxh3_128"].text()
        self.kernel = case["kernel"].text()
        self.dense_cols = case.optional("dense_cols", Field.integer) or 0  # 0: a sparse product
        self.caches = case["caches"].text()
        if self.caches not in ("warm", "cold"):
            case["caches"].refuse('"warm" or "cold"')
        self.value_kind = case["value_kind"].text()
        self.rows, self.cols, self.nnz = (record[name].integer() for name in ("rows", "cols", "nnz"))
        self.seconds = record["median_seconds"].seconds()
        samples = [sample.seconds() for sample in record["samples_seconds"].elements()]
        if not samples:
            record["samples_seconds"].refuse("samples")
        self.runs = len(samples)
        interval = record.optional("median_interval_seconds", lambda field: [end.seconds() for end in field.elements()])
        if interval is not None and len(interval) != 2:
            record["median_interval_seconds"].refuse("two numbers")
        self.interval = interval or [min(samples), max(samples)]
        self.gflops = record["gflops"].number()
        self.flops, self.minimum_bytes = (record["cost"][name].number() for name in ("flops", "minimum_bytes"))
        phases = record.find("phases")
        self.analysis_seconds, self.upload_a_seconds, self.peak_bytes, self.order_seconds = (
            phases and phases.optional(name, Field.number)
            for name in ("analysis_seconds", "upload_a_seconds", "peak_bytes", "reordering_seconds"))
        # In schema 1, the peak of SpMM is among the phases.
        self.peak_bytes = record.optional("peak_bytes", Field.number) or self.peak_bytes
        check = record.find("check")
        self.check = "none" if check is None else "sampled" if check["sampled"].boolean() else "full"
        self.gpu = case.optional("gpu", Gpu)
        machine = record.find("machine")
        self.cpu, self.commit = ((machine and machine.optional(name, Field.text)) or "" for name in ("cpu", "commit"))
        self.time = record.optional("time", Field.text) or ""
        clocks = record.find("clocks")
        self.was_throttled = bool(clocks and clocks.optional("throttled", Field.boolean))
        self.order, self.base_digest = order_of(record.optional("history", Field.elements) or [])
        stem = pathlib.PurePath(self.matrix).name.removesuffix(".csr")
        self.dataset = stem
        # Kernels of different devices may be compared, all else must be the same.
        self.setting = (self.dense_cols, self.caches, self.value_kind,
                        case.optional("transpose", Field.boolean) or False,
                        case.optional("semiring", Field.text) or "plus-times")


class Gpu:
    """What the roofline needs of a GPU."""

    def __init__(self, facts):
        self.name = facts["name"].text()
        self.compute_capability = facts.optional("compute_capability", Field.text) or ""
        self.bandwidth, self.multiprocessors, self.clock_khz = (
            facts.optional(name, Field.number) or 0
            for name in ("peak_bandwidth_bytes_per_second", "multiprocessors", "sm_clock_khz"))


def order_of(history):
    """('degree', digest of the file that was reordered), or ('', None)."""
    methods, base = [], None
    for step in history:
        if pathlib.PurePath(step.optional("tool", Field.text) or "").name != "csr-reorder":
            continue
        words = step.optional("command_line", Field.texts) or []
        method = [words[i + 1] if word in ("--method", "--then") and i + 1 < len(words) else word.partition("=")[2]
                  for i, word in enumerate(words) if word.partition("=")[0] in ("--method", "--then")]
        if "--undo" in words:
            methods, base = [], None
        elif method:
            base = base or ((step.optional("inputs_xxh3_128", Field.texts) or [None])[0])
            methods += method
    return "+".join(methods), base


class Bundle:
    def __init__(self):
        self.cases = []       # of Case, the last record of each
        self.failures = []    # (what, why)
        self.throttled = []   # names of cases
        self.orders = {}      # file name of a reordered matrix -> seconds that csr-reorder took
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


def read(paths, kernel, against, say):
    bundle = Bundle()
    last = {}
    for path in paths:
        for place, item in items_of(path, say):
            add(bundle, last, place, item)
    names = {}
    for record in last.values():
        if record["status"].text() != "done":
            bundle.failures.append((name_of(record), record.optional("reason", Field.text) or ""))
            continue
        case = Case(record)
        bundle.cases.append(case)
        if not case.order:
            names[case.digest] = case.dataset
        if case.was_throttled:
            bundle.throttled.append(name_of(record))
    for case in bundle.cases:
        if case.order:  # under the name of the matrix it was made of
            case.dataset = names.get(case.base_digest, case.dataset.partition(".")[0])
    if not bundle.cases and not bundle.searches and not bundle.schedules:
        raise InputError(f"{paths[0]}:1: expected records of csr-bench with status done, found none")
    choose_kernels(bundle, kernel, against)
    return bundle


def items_of(path, say):
    """(place, value) of every record: of a file that is one document, else of its lines."""
    with open_regular(path) as file:
        head = file.read(json_reader.MAX_BYTES + 1)
        if len(head) <= json_reader.MAX_BYTES:
            try:
                whole = json_reader.parse(head)
                yield from ((f"{path}:1", item) for item in (whole if isinstance(whole, list) else [whole]))
                return
            except json_reader.NotJson:
                pass
        file.seek(0)
        number = 0
        while line := file.readline(json_reader.MAX_BYTES + 2):
            number += 1
            if not line.strip():
                continue
            try:
                yield f"{path}:{number}", json_reader.parse(line.removesuffix(b"\n"))
            except json_reader.NotJson as error:
                is_cut = not line.endswith(b"\n") and len(line) <= json_reader.MAX_BYTES and line.startswith(b"{")
                if is_cut:  # csr-bench --resume makes it again
                    say("warning", f"{path}:{number}: the last line was cut short; it is left out")
                    continue
                raise InputError(f"{path}:{number}: {error}; name files that csr-bench --records or csr-reorder --json "
                                 "wrote") from error


def open_regular(path):
    """Opens without waiting: a pipe that nobody writes to would block for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    found = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; save its content in a file first"
    raise OSError(0, f"expected a regular file, found {found}", path)


def add(bundle, last, place, item):
    field = json_reader.Field(item, place)
    if not isinstance(item, dict):
        field.refuse("a record (a JSON object)")
    if "case" in item and "status" in item:
        name_of(field)
        item["case"]["kernel"] = RENAMED.get(item["case"]["kernel"], item["case"]["kernel"])
        last[json.dumps(item["case"])] = field
        machine = field.find("machine")
        facts = dict(machine.object()) if machine else {}
        if machine:
            machine.optional("gpu", Field.object)
        facts.pop("slurm_job", None)
        command = " ".join(field.optional("command_line", Field.texts) or [])
        for known, commands in bundle.machines:
            if known == facts:
                if command not in commands:
                    commands.append(command)
                return
        bundle.machines.append((facts, [command]))
    elif "order_seconds" in item and "output" in item:
        bundle.orders[pathlib.PurePath(field["output"].text()).name] = field["order_seconds"].seconds()
    elif "schedule" in item and {"matrix", "kernel", "dense_cols", "threads", "gflops"} <= item.keys():
        for name in ("matrix", "kernel"):
            field[name].text()
        for name in ("dense_cols", "threads"):
            field[name].integer(1)
        field["gflops"].number(LEAST_RATE)
        field.optional("schedule", Field.text)
        field.optional("chunk", Field.integer)
        bundle.schedules.append(item)
    elif isinstance(item.get("seconds"), list) and "matrix" in item:
        field["matrix"].text()
        field.optional("kernel", Field.text)
        for seconds in field["seconds"].elements():
            seconds.number(json_reader.LEAST_SECONDS, json_reader.MOST_SECONDS)
        bundle.searches.append(item)
    else:
        field.refuse("a record of csr-bench, a report of csr-reorder --json, a record of a grid search or of a study of "
                     "schedules")


def name_of(record):
    case = record["case"]
    dense_cols = case.optional("dense_cols", Field.integer)
    cols = f", K {dense_cols}" if dense_cols else ""
    return f"{pathlib.PurePath(record['matrix'].text()).name}, {case['kernel'].text()}{cols}, {case['caches'].text()}"


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
