#!/usr/bin/env python3
"""Prints what a tool wrote in a form that is the same on every machine and in every run.

Usage: mask.py STDOUT STDERR

Times, rates, memory, machines, dates, versions and scratch folders are replaced by names. Runs of
blanks become two, since columns are as wide as their numbers. JSON gets a line per key. Lines of
stderr begin with "stderr: ". Lines of text and elements of JSON lists that match the regular
expression $DROP are left out: kernels that only some builds have. The text $HIDE is replaced.
"""
import json
import os
import pathlib
import re
import sys

# JSON keys whose values differ from run to run or from machine to machine.
VOLATILE = re.compile(r"seconds|per_second|gflops|^(.*spread|time|host|cpu|cpus|memory_bytes|.*_cache_bytes|table_bytes|"
                      r".*peak_bytes|peak_ratio|whole_bytes|id)$")
MACHINE = ("machine", "measured_on", "clocks", "gpu")  # objects of which only the keys are the same everywhere
NUMBER = r"\d[\d.,]*(?:e[-+]?\d+)?"
TEXT = [(re.compile(pattern), replacement) for pattern, replacement in (
    (rf"\b{NUMBER} (ns|us|ms|s)(?![\w/])", "<time>"),
    (rf"\b{NUMBER} [KMGT]iB(?![\w/])", "<size>"),
    (rf"\b{NUMBER} (GFLOP/s|[KMG]B/s|[KMG]iB/s)(?!\w)", "<rate>"),
    (r"/[^\s'\"]*csrkit-case\.\w+/work", "<folder>"),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<date>"),
    (r"\b\d+\.\d+\.\d+\b", "<version>"),
    (r"\b(avx512|avx2|portable)\b", "<vectors>"),
    (r"--mem=\d+[KMG]", "--mem=<size>"),
    (r"at most \d+ % of the median", "at most <n> % of the median"),
    (r"[\d.]+ times A, B and C", "<n> times A, B and C"),
    (r"(?<=\S) {2,}", "  "),
)]
HIDE = os.environ.get("HIDE")
DROP = re.compile(os.environ.get("DROP") or r"(?!)")


def mask_text(text):
    if HIDE:
        text = text.replace(HIDE, "<hidden>")
    for pattern, replacement in TEXT:
        text = pattern.sub(replacement, text)
    return text


def mask_lines(lines):
    """A table with a column of milliseconds or rates loses its fractions, which are all measured."""
    in_table = False
    for line in lines:
        if not DROP.search(line):
            yield re.sub(r"\b\d+\.\d+\b", "<n>", mask_text(line)) if in_table else mask_text(line)
        in_table = bool(line.strip()) and (in_table or "median ms" in line or "GB/s of B" in line)


def mask_json(value, key=""):
    if isinstance(value, dict):
        if key in MACHINE:
            return {name: f"<{name}>" for name in value}
        return {name: mask_json(part, name) for name, part in value.items()}
    if value is not None and VOLATILE.search(key):
        return f"<{key}>"
    if isinstance(value, list):
        return [mask_json(part, key) for part in value if not DROP.search(json.dumps(part))]
    return mask_text(value) if isinstance(value, str) else value


def masked(text):
    try:
        return json.dumps(mask_json(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    except ValueError:
        return "".join(mask_lines(text.splitlines(True)))


def main():
    out, err = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    sys.stdout.write(masked(out))
    sys.stdout.writelines(f"stderr: {line}\n" for line in masked(err).splitlines())


if __name__ == "__main__":
    main()
