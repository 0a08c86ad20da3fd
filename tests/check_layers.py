#!/usr/bin/env python3
"""Holds the table of who may include whom, and fails on any other arrow.

Usage: check_layers.py ROOT        check every source file below ROOT
       check_layers.py --self-test check that planted violations are found

The rules (docs/architecture.md explains them):
  * rooms include downwards only, with paths from the repository root;
  * third-party headers stay in the rooms that need them;
  * libraries never print or exit.
"""
import pathlib
import re
import sys

# room -> rooms it may include. The longest matching prefix of a path is its room.
ROOMS = {
    "core": {"core"},
    "preprocess/transform": {"core", "preprocess/transform"},
    "preprocess/import": {"core", "preprocess/import"},
    "preprocess/export": {"core", "preprocess/export"},
    "preprocess/generate": {"core", "preprocess/generate"},
    "preprocess/reorder": {"core", "preprocess/reorder"},
    "cpu": {"core", "cpu"},
    "gpu": {"core", "gpu"},
    "tools": {"core", "preprocess/transform", "preprocess/import", "preprocess/export",
              "preprocess/generate", "preprocess/reorder", "cpu", "gpu", "tools"},
    "studies": None,  # anything
    "tests": None,
}
LIBRARIES = ("core", "preprocess", "cpu", "gpu")

# first part of a third-party header -> places (path prefixes) that may name it
THIRD_PARTY = {
    "xxhash.h": ("core", "preprocess/import"),
    "metis.h": ("preprocess/reorder",),
    "archive.h": ("preprocess/import", "preprocess/export"),
    "archive_entry.h": ("preprocess/import", "preprocess/export"),
    "fast_float": ("preprocess/import",),
    "cxxopts.hpp": ("tools",),
    "spdlog": ("tools",),
    "commit.h": ("tools/support",),  # made by cmake/commit.cmake
    "nlohmann": ("tools",),
    "gtest": ("studies",),
    "rapidcheck": ("studies",),
    "rapidcheck.h": ("studies",),
    "omp.h": ("core", "preprocess", "cpu", "studies", "tools/support"),
    "immintrin.h": ("cpu",),
    "mkl_spblas.h": ("cpu",), "mkl_service.h": ("cpu",), "Eigen": ("cpu",), "GraphBLAS.h": ("cpu",),
    "rsb.h": ("cpu",),
    "emmintrin.h": ("core", "cpu"),  # SSE2: every x86-64 has it
    "cuda": ("gpu",), "cuda.h": ("gpu",), "cuda_runtime.h": ("gpu",), "cuda_runtime_api.h": ("gpu",),
    "cuda_fp16.h": ("gpu",), "cuda_bf16.h": ("gpu",), "cooperative_groups.h": ("gpu",),
    "cusparse.h": ("gpu",), "cublas_v2.h": ("gpu",), "cub": ("gpu",), "thrust": ("gpu",),
}
NO_OPENMP = {"core/reference.cpp", "core/reference.h"}  # the truth stays serial
SYSTEM = re.compile(r"^(sys/\w+\.h|linux/\w+\.h|unistd\.h|stdio_ext\.h|fcntl\.h|dirent\.h|dlfcn\.h|signal\.h|errno\.h|sched\.h|cpuid\.h)$")
STANDARD = re.compile(r"^[a-z_0-9]+$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PRINTS = re.compile(r"\b(std::cout|std::cerr|std::clog|std::exit|(?<!\w)f?printf\s*\(|(?<!_)\bexit\s*\()")
SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh", ".inc"}


def room_of(path):
    return max((room for room in ROOMS if path.startswith(room + "/")), key=len, default=None)


def violations(path, text):
    """Every broken rule in one file, as 'path:line: sentence'."""
    room = room_of(path)
    if room is None:
        return [f"{path}:1: this file is in no room; rooms are {', '.join(ROOMS)}"]
    found = []
    in_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        match = INCLUDE.match(line)
        if match and match[1] == '"':
            target = room_of(match[2])
            if target is None:
                found.append(f'{where}: include "{match[2]}" does not start at the repository root')
            elif ROOMS[room] is not None and target not in ROOMS[room]:
                found.append(f"{where}: {room} must not include {target} ({match[2]})")
        elif match:
            header = match[2]
            key = header.split("/")[0]
            if key in THIRD_PARTY and not STANDARD.match(header):
                allowed = THIRD_PARTY[key]
                if room != "tests" and not path.startswith(tuple(a + "/" for a in allowed)):
                    found.append(f"{where}: <{header}> belongs to {', '.join(allowed)}")
                if key == "omp.h" and path in NO_OPENMP:
                    found.append(f"{where}: the reference is serial on purpose")
            elif not STANDARD.match(header) and not SYSTEM.match(header):
                found.append(f"{where}: <{header}> is not in the table of third-party headers")
        if path.startswith(tuple(library + "/" for library in LIBRARIES)):
            code = line
            if in_comment:
                end = code.find("*/")
                code = "" if end < 0 else code[end + 2:]
                in_comment = end < 0
            code = re.sub(r'"(\\.|[^"\\])*"', '""', code).split("//")[0]
            if "/*" in code and "*/" not in code:
                in_comment = True
                code = code[:code.find("/*")]
            if PRINTS.search(code):
                found.append(f"{where}: libraries never print or exit: {line.strip()}")
    return found


def check_tree(root):
    found = []
    count = 0
    for room in ROOMS:
        for file in sorted((root / room).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in SUFFIXES and file.is_file() and room_of(path) == room:
                count += 1
                found += violations(path, file.read_text(encoding="utf-8"))
    if count == 0:
        found.append(f"{root}: no source files found")
    return count, found


def self_test():
    planted = [
        ("core/a.cpp", '#include "cpu/spmm/registry.h"\n'),
        ("cpu/spmm/a.cpp", '#include "gpu/spmm/registry.h"\n'),
        ("cpu/spmm/a.cpp", '#include "preprocess/reorder/reorder.h"\n'),
        ("gpu/spmm/a.cu", '#include "../device/cuda_check.h"\n'),
        ("tools/csr-x.cpp", "#include <cuda_runtime.h>\n"),
        ("core/a.cpp", "#include <nlohmann/json.hpp>\n"),
        ("core/a.cpp", "#include <boost/any.hpp>\n"),
        ("core/reference.cpp", "#include <omp.h>\n"),
        ("preprocess/import/a.cpp", "  std::cerr << 1;\n"),
        ("cpu/a.cpp", "  printf(\"x\");\n"),
        ("gpu/a.cu", "  exit(1);\n"),
        ("elsewhere/a.cpp", "int x;\n"),
    ]
    clean = [
        ("core/a.cpp", '#include <vector>\n#include <sys/mman.h>\n#include "core/types.h"\n// printf(\n'),
        ("tools/support/a.cpp", '#include <spdlog/spdlog.h>\n#include "gpu/spmm/registry.h"\n  std::cout << 1;\n'),
        ("cpu/a.cpp", '  throw Error("printf( is only text");\n  snprintf(b, 2, "x"); _exit(1);\n'),
    ]
    missed = [f"missed: {path}: {text!r}" for path, text in planted if not violations(path, text)]
    wrong = [line for path, text in clean for line in violations(path, text)]
    return missed + wrong


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--self-test":
        found = self_test()
        print("\n".join(found) or "check_layers: every planted violation was found")
    else:
        count, found = check_tree(pathlib.Path(sys.argv[1]))
        print("\n".join(found) or f"check_layers: {count} files keep to their rooms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
