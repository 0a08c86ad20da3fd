"""Makes records as csr-bench writes them, for the tests of this folder; also where they find the modules."""
from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))

from report.bundle import Bundle, read  # noqa: E402


def record(matrix: str = "a.csr", kernel: str = "cpu.spmm.auto", seconds: float = 1e-3, spread: float = 0.0,
           dense_cols: int = 32, **more: Any) -> dict[str, Any]:
    """`spread` is half the interval of the median, as a share of it."""
    low, high = seconds * (1 - spread), seconds * (1 + spread)
    stem = matrix.removesuffix(".csr")
    made = {
        "schema": 2, "matrix": matrix, "folder": "/nowhere", "status": "done", "reason": "",
        "case": {"operation": "spmm", "matrix_xxh3_128": f"digest of {stem}", "kernel": kernel, "dense_cols": dense_cols,
                 "caches": "warm", "value_kind": "as stored", "transpose": False, "semiring": "plus-times"},
        "rows": 100, "cols": 100, "nnz": 1000, "samples_seconds": [max(low, 1e-12), seconds, high] if seconds else [0.0], "median_seconds": seconds,
        "median_interval_seconds": [low, high], "gflops": 2e3 * dense_cols / (seconds or 1) / 1e9,
        "cost": {"flops": 2e3 * dense_cols, "minimum_bytes": 1e4},
        "check": {"passed": True, "sampled": False, "rows_checked": 100, "worst_error_ratio": 0, "failure": ""},
        "machine": {"host": "here", "cpu": "a CPU", "commit": "abc", "gpu": None}, "time": "2026-01-01T00:00:00Z",
        "command_line": ["csr-bench", matrix]}
    return {**made, **more}


def with_case(made: dict[str, Any], **facts: Any) -> dict[str, Any]:
    """The record of another case of the same matrix."""
    return {**made, "case": {**made["case"], **facts}}


def reordered(matrix: str, base: str, method: str, **more: Any) -> dict[str, Any]:
    step = {"tool": "csr-reorder", "command_line": ["csr-reorder", "--method", method],
            "inputs_xxh3_128": [f"digest of {base}"]}
    return record(matrix, history=[step], **more)


def generated(matrix: str, like: str, scale: str = "", **more: Any) -> dict[str, Any]:
    words = ["csr-generate", "--like", like, matrix] + (["--set", f"scale={scale}"] if scale else [])
    step = {"tool": "csr-generate", "command_line": words, "inputs_xxh3_128": []}
    return record(matrix, history=[step], **more)


def failed(matrix: str, reason: str, **more: Any) -> dict[str, Any]:
    made = record(matrix, **more)
    return {key: made[key] for key in ("schema", "matrix", "case")} | {"status": "failed", "reason": reason}


def bundle_of(*records: Any, tail: str = "") -> Bundle:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(one) + "\n" for one in records) + tail)
        file.flush()
        return read([file.name], "", "", lambda kind, text: None)
