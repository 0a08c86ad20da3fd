"""A record of csr-bench as the report uses it: what was measured, of which matrix, how well it is known."""
from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import NamedTuple, Optional, Sequence, Union

from report.json_reader import Field

VENDORS = {"vendor_cusparse": "cuSPARSE", "vendor_mkl": "MKL", "vendor_eigen": "Eigen",
         "vendor_graphblas": "GraphBLAS", "vendor_librsb": "librsb"}
# Kernels that had other names when records were written; tools/bench/renamed_kernels.cpp has the same table.
RENAMED = {
    "gpu.spgemm.row_bins": "gpu.spgemm.adaptive_rows",
    "gpu.spgemm.v4_prefix_sum": "gpu.spgemm.v5_prefix_sum",
    "cpu.spmm.unrolled_4": "cpu.spmm.unrolled:4",
    "cpu.spmm.unrolled_8": "cpu.spmm.unrolled:8",
    "cpu.spmm.unrolled_16": "cpu.spmm.unrolled:16",
    "cpu.spmm.unrolled_32": "cpu.spmm.unrolled:32",
}
# As in tools/bench/other_work.cpp: so many CPUs that others kept busy disturb a case.
DISTURBING_CPUS = 0.5


def is_vendor(kernel: str) -> bool:
    """Whether it is other people's code; csrkit's own kernels are a baseline."""
    return kernel.rpartition(".")[2].startswith("vendor_")


def kernel_title(kernel: str) -> str:
    """The name that everybody knows a vendor's library by, else the kernel's own."""
    stem = kernel.rpartition(".")[2]
    return VENDORS.get(stem, stem.removeprefix("vendor_"))


def stem_of(matrix: str) -> str:
    return pathlib.PurePath(matrix).name.removesuffix(".csr")


class Setting(NamedTuple):
    """What two cases must share if one's time is divided by the other's."""
    dense_cols: int  # 0: a sparse product
    caches: str
    value_kind: str
    how: str  # in which ways it is no plain product: "transposed, min-plus"


def setting_of(case: Field) -> Setting:
    semiring = case.optional("semiring", Field.text) or "plus-times"
    limit = case.optional("memory_limit_bytes", Field.integer) or 0
    words = ["transposed" if case.optional("transpose", Field.boolean) else "",
             "" if semiring == "plus-times" else semiring,
             "unsorted" if case.optional("unsorted", Field.boolean) else "",
             "with reuse" if case.optional("reuse", Field.boolean) else "",
             "nondeterministic" if case.optional("deterministic", Field.boolean) is False else "",
             f"within {limit} bytes" if limit else ""]
    return Setting(case.optional("dense_cols", Field.integer) or 0, case.optional("caches", Field.text) or "warm",
                   case.optional("value_kind", Field.text) or "as stored", ", ".join(word for word in words if word))


class Place:
    """What a case ran on, or would have."""

    def __init__(self, case: Field) -> None:
        self.gpu: Optional[Gpu] = case.optional("gpu", Gpu)
        self.cpu = case.optional("cpu", Field.text) or ""
        self.threads: int = case.optional("threads", Field.integer) or 0

    @property
    def device(self) -> str:
        return self.gpu.name if self.gpu else self.cpu or "CPU"

    @property
    def team(self) -> str:
        """'16 threads' of a CPU, as far as they are known."""
        return "" if self.gpu or not self.threads else f"{self.threads} thread{'s' if self.threads > 1 else ''}"

    @property
    def text(self) -> str:
        return ", ".join(part for part in (self.device, self.team) if part)


def apart(place: Place, places: Sequence[Place]) -> str:
    """What tells a place from the others: its machine, or its threads where that is the same; '' if nothing does."""
    if len({other.device for other in places}) > 1:
        return place.text
    return place.team if len({other.team for other in places}) > 1 else ""


def are_comparable(a: Union[Case, Failure], b: Union[Case, Failure]) -> bool:
    """Kernels of a CPU and of a GPU may be compared, those of two CPUs, numbers of threads or GPUs may not."""
    return a.setting == b.setting and (bool(a.place.gpu) != bool(b.place.gpu) or a.place.text == b.place.text)


class Case:
    """One record that is done. `dataset` and `order` name the matrix: 'reddit', 'degree'."""

    def __init__(self, record: Field) -> None:
        case = record["case"]
        self.matrix = record["matrix"].text()
        self.folder = record.optional("folder", Field.text) or ""
        self.digest = case["matrix_xxh3_128"].text()
        self.kernel = case["kernel"].text()
        if case["caches"].text() not in ("warm", "cold"):
            case["caches"].refuse('"warm" or "cold"')
        case["value_kind"].text()
        self.setting = setting_of(case)
        self.dense_cols, self.caches, self.value_kind, _ = self.setting
        self.place = Place(case)
        self.rows, self.cols, self.nnz = (record[name].integer() for name in ("rows", "cols", "nnz"))
        self._read_times(record)
        self.gflops: float = record["gflops"].number()
        self.flops, self.minimum_bytes = (record["cost"][name].number() for name in ("flops", "minimum_bytes"))
        phases = record.find("phases")
        self.analysis_seconds, self.upload_a_seconds, self.peak_bytes, self.order_seconds = (
            phases and phases.optional(name, Field.number)
            for name in ("analysis_seconds", "upload_a_seconds", "peak_bytes", "reordering_seconds"))
        # In schema 1, the peak of SpMM is among the phases.
        self.peak_bytes = record.optional("peak_bytes", Field.number) or self.peak_bytes
        check = record.find("check")
        self.check = "none" if check is None else "sampled" if check["sampled"].boolean() else "full"
        self.gpu = self.place.gpu
        machine = record.find("machine")
        self.cpu, self.commit, self.host = ((machine and machine.optional(name, Field.text)) or ""
                                            for name in ("cpu", "commit", "host"))
        self.time = record.optional("time", Field.text) or ""
        clocks = record.find("clocks")
        self.was_throttled = bool(clocks and clocks.optional("throttled", Field.boolean))
        others = clocks.find("others") if clocks else None
        self.beside = beside_of(others) if others else ""
        history = record.optional("history", Field.elements) or []
        self.order, self.base_digest = order_of(history)
        self.dataset = stem_of(self.matrix)
        self.like, self.scale = stand_in_of(history)

    def _read_times(self, record: Field) -> None:
        self.seconds: float = record["median_seconds"].seconds()
        samples = [sample.seconds() for sample in record["samples_seconds"].elements()]
        if not samples:
            record["samples_seconds"].refuse("samples")
        interval = record.optional("median_interval_seconds", lambda field: [end.seconds() for end in field.elements()])
        if interval is not None and len(interval) != 2:
            record["median_interval_seconds"].refuse("two numbers")
        self.interval: list[float] = interval or [min(samples), max(samples)]
        self.samples = samples
        turns = record.find("turns")
        self.turns = turns["id"].text() if turns else ""  # of the rounds in which kernels took turns

    @property
    def width_percent(self) -> float:
        """Half the 95 % interval of the median, in percent of it."""
        return 50 * (self.interval[1] - self.interval[0]) / self.seconds if self.seconds else 0.0

    @property
    def title(self) -> str:
        """The data set, and that it is not the data set where a stand-in was measured."""
        if not self.like:
            return self.dataset
        whose = "" if self.like == self.dataset else f" for {self.like}"
        size = "" if self.scale == 1 else f", {100 * self.scale:g} % of its size"
        return f"{self.dataset} (stand-in{whose}{size})"


def beside_of(others: Field) -> str:
    """What else ran: '1.3 CPUs and 2 processes on the GPU', or ''"""
    cpus, processes = (others.optional(name, Field.number) or 0 for name in ("cpus", "gpu_processes"))
    texts = [f"{cpus:.1f} CPUs"] if cpus >= DISTURBING_CPUS else []
    if processes:
        texts.append(f"{processes:.0f} process{'es' if processes > 1 else ''} on the GPU")
    return " and ".join(texts)


class Gpu:
    """What the roofline needs of a GPU."""

    def __init__(self, facts: Field) -> None:
        self.name = facts["name"].text()
        self.compute_capability = facts.optional("compute_capability", Field.text) or ""
        self.multiprocessors, self.clock_khz = (facts.optional(name, Field.number) or 0
                                                for name in ("multiprocessors", "sm_clock_khz"))


@dataclass(frozen=True)
class Failure:
    """A case that was tried and has no time."""
    matrix: str
    digest: str
    kernel: str
    setting: Setting
    place: Place
    reason: str

    @property
    def dense_cols(self) -> int:
        return self.setting.dense_cols

    @property
    def stem(self) -> str:
        return stem_of(self.matrix)

    @property
    def name(self) -> str:
        cols = f", K {self.dense_cols}" if self.dense_cols else ""
        return f"{pathlib.PurePath(self.matrix).name}, {self.kernel}{cols}, {self.setting.caches}"


def failure_of(record: Field) -> Failure:
    case = record["case"]
    return Failure(record["matrix"].text(), case["matrix_xxh3_128"].text() if case.find("matrix_xxh3_128") else "",
                   case["kernel"].text(), setting_of(case), Place(case),
                   record.optional("reason", Field.text) or record["status"].text())


def words_after(words: list[str], names: tuple[str, ...]) -> list[str]:
    """The values of options, given as two words or as one."""
    return [words[i + 1] if word in names and i + 1 < len(words) else word.partition("=")[2]
            for i, word in enumerate(words) if word in names or word.partition("=")[0] in names]


def tool_of(step: Field) -> str:
    return pathlib.PurePath(step.optional("tool", Field.text) or "").name


def order_of(history: list[Field]) -> tuple[str, Optional[str]]:
    """('degree', digest of the file that was reordered), or ('', None)."""
    methods: list[str] = []
    base = None
    for step in history:
        if tool_of(step) != "csr-reorder":
            continue
        words = step.optional("command_line", Field.texts) or []
        method = words_after(words, ("--method", "--then"))
        if "--undo" in words:
            methods, base = [], None
        elif method:
            base = base or ((step.optional("inputs_xxh3_128", Field.texts) or [None])[0])
            methods += method
    return "+".join(methods), base


def stand_in_of(history: list[Field]) -> tuple[str, float]:
    """(data set that csr-generate imitated, share of its size), or ('', 1)."""
    for step in history:
        if tool_of(step) != "csr-generate":
            continue
        words = step.optional("command_line", Field.texts) or []
        like = words_after(words, ("--like",))
        if like:
            scales = [text.partition("=")[2] for text in words_after(words, ("--set",)) if text.startswith("scale=")]
            try:
                return like[0], float(scales[-1]) if scales else 1.0
            except ValueError:
                return like[0], 1.0
    return "", 1.0
