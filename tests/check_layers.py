#!/usr/bin/env python3
"""Holds the table of who may include whom, and fails on any other arrow.

Usage: check_layers.py ROOT        check every source file below ROOT
       check_layers.py --self-test check that planted violations are found

The rules (docs/architecture.md explains them):
  * rooms include downwards only, with paths from the repository root;
  * an operation (cpu/spmm, gpu/spgemm) never includes another one;
  * no circles between files: a header, its source and its .cuh are one node;
  * third-party headers stay in the rooms that need them;
  * libraries never print or exit.
"""
import pathlib
import re
import sys

BELOW_API = {"core/*", "preprocess/*", "cpu/*", "gpu", "gpu/*"}
ALL_LIBRARIES = BELOW_API | {"api", "ranks"}
OPERATION = "tools/operation"
OPERATION_STEPS = ("operands", "product", "operations")
PRODUCTS = ALL_LIBRARIES | {"tools/cli", OPERATION, OPERATION + "/*"}

CPU_OPERATION = {"core/*", "cpu/common"}
CPU_SPGEMM = "cpu/spgemm/"
CPU_SPGEMM_STEPS = ("accumulators", "rows", "analysis", "one_pass")

IMPORT = "preprocess/import"
FORMAT = {"core/*", IMPORT, IMPORT + "/source"}
GENERATE = "preprocess/generate"
REORDER = "preprocess/reorder"

GPU_OPERATION = {"core/*", "gpu/device", "gpu/plan"}
SPGEMM = GPU_OPERATION | {"gpu/spgemm"}
ROWS = "gpu/spgemm/adaptive_rows/"
ROW_STEPS = ("rules", "primitives", "profile", "binning", "symbolic", "numeric")


def in_order(folder, steps, below):
    """A row for each step, which may include the steps before it."""
    return {folder + step: below | {folder + earlier for earlier in steps[:place]} for place, step in enumerate(steps)}


# room -> rooms it may include beside itself. "cpu/*" is every folder of cpu that has no row.
ROOMS = {
    "core/base": set(),
    "core/matrix": {"core/base"},
    "core/file": {"core/base", "core/matrix"},
    "core/contract": {"core/base", "core/matrix"},
    "core/facts": {"core/base", "core/matrix", "core/contract"},
    "core/judge": {"core/base", "core/matrix", "core/contract", "core/facts"},
    "core/solve": {"core/base", "core/matrix", "core/contract"},
    "preprocess/*": {"core/*"},  # each on its own
    IMPORT + "/source": {"core/*"},
    IMPORT: {"core/*", IMPORT + "/source"},  # knows the formats by their table alone
    **{IMPORT + "/" + kind: FORMAT for kind in ("text", "binary", "numpy")},
    IMPORT + "/archives": FORMAT | {IMPORT + "/text"},
    IMPORT + "/ogb": FORMAT | {IMPORT + "/text", IMPORT + "/numpy"},
    GENERATE + "/common": {"core/*"},
    GENERATE + "/drawn_rows": {"core/*", GENERATE + "/common"},
    GENERATE: {"core/*", GENERATE + "/common"},  # knows the patterns by their table alone
    GENERATE + "/patterns": {"core/*", GENERATE, GENERATE + "/common", GENERATE + "/drawn_rows"},
    REORDER: {"core/*"},  # knows the methods by their table alone
    **{REORDER + "/" + method: {"core/*", REORDER} for method in ("rcm", "community", "metis")},
    REORDER + "/parts": {"core/*"},
    "cpu/common": {"core/*"},
    "cpu/*": CPU_OPERATION,
    **in_order(CPU_SPGEMM, CPU_SPGEMM_STEPS, CPU_OPERATION),
    "cpu/spgemm/vendor": CPU_OPERATION,
    "cpu/spgemm": CPU_OPERATION | {CPU_SPGEMM + below for below in (*CPU_SPGEMM_STEPS, "vendor")},
    "cpu/spgemm/ladder": CPU_OPERATION | {"cpu/spgemm", "cpu/spgemm/rows", "cpu/spgemm/analysis"},
    "gpu/device": {"core/*"},
    "gpu/plan": {"core/*", "gpu/device"},
    "gpu/*": GPU_OPERATION,
    **in_order(ROWS, ROW_STEPS, SPGEMM),
    "gpu/spgemm/product_list": SPGEMM | {ROWS + "*"},
    "gpu/spgemm/small_product": SPGEMM | {ROWS + "*"},
    "gpu/spgemm/adaptive_rows": SPGEMM | {ROWS + "*", "gpu/spgemm/product_list", "gpu/spgemm/small_product"},
    "gpu": {"core/*", "gpu/*"},  # the face
    "ranks": {"core/*", "cpu/common"},
    "ranks/mpi": {"core/*", "ranks"},
    "api": BELOW_API,
    "tools/cli": {"core/*", "cpu/common"},
    **in_order(OPERATION + "/", OPERATION_STEPS, ALL_LIBRARIES | {"tools/cli"}),
    OPERATION: ALL_LIBRARIES | {"tools/cli", OPERATION + "/*"},
    "tools/ranks": PRODUCTS | {"tools/forecast"},
    "tools/bench": PRODUCTS,
    "tools/forecast": PRODUCTS,
    "tools/probe": PRODUCTS | {"tools/forecast"},
    "tools/advise": PRODUCTS | {"tools/forecast"},
    "tools/solve": PRODUCTS,
    "tools/info": PRODUCTS | {"tools/advise"},
    "tools/convert": ALL_LIBRARIES | {"tools/cli", "tools/info"},
    "tools/reorder": ALL_LIBRARIES | {"tools/cli", "tools/advise", "tools/info"},
    "tools/partition": ALL_LIBRARIES | {"tools/cli", "tools/info", "tools/reorder"},
    "tools": None,  # the mains: anything
    "studies": None,
    "tests": None,
}
# rooms without folders: a folder in tools is a room of its own
FLAT = {"tools", OPERATION, "gpu", "api", "ranks", IMPORT, GENERATE, REORDER, "cpu/spgemm", "gpu/spgemm/adaptive_rows"}
LIBRARIES = ("core", "preprocess", "cpu", "gpu", "ranks", "api")

# first part of a third-party header -> places (path prefixes) that may name it
THIRD_PARTY = {
    "stddef.h": ("api",), "stdint.h": ("api",),  # csrkit.h is C
    "xxhash.h": ("core",),
    "metis.h": ("preprocess/reorder",),
    "archive.h": ("preprocess/import", "preprocess/export"),
    "archive_entry.h": ("preprocess/import", "preprocess/export"),
    "fast_float": ("preprocess/import",), "isa-l": ("preprocess/import",),
    "zlib.h": ("preprocess/import", "preprocess/export", "tools/info"),
    "cxxopts.hpp": ("tools",),
    "spdlog": ("tools",),
    "commit.h": ("tools/cli",),  # made by cmake/commit.cmake
    "csrkit_build_id.h": ("core/base", "gpu", "ranks/mpi"),  # made by cmake/build_id.cmake
    "csrkit_analysis_id.h": ("gpu",),  # the same
    "nlohmann": ("tools",),
    "gtest": ("studies",),
    "rapidcheck": ("studies",),
    "rapidcheck.h": ("studies",),
    "omp.h": ("core", "preprocess", "cpu", "ranks", "studies", "tools/operation", "tools/probe"),
    "immintrin.h": ("cpu",),
    "mkl_spblas.h": ("cpu",), "mkl_service.h": ("cpu",), "mkl_cblas.h": ("cpu",),
    "mkl_vml_functions.h": ("cpu",), "Eigen": ("cpu",), "GraphBLAS.h": ("cpu",),
    "rsb.h": ("cpu",),
    "emmintrin.h": ("core", "cpu"),  # SSE2: every x86-64 has it
    "cuda": ("gpu",), "cuda.h": ("gpu",), "cuda_runtime.h": ("gpu",), "cuda_runtime_api.h": ("gpu",),
    "cuda_fp16.h": ("gpu",), "cuda_bf16.h": ("gpu",), "cooperative_groups.h": ("gpu",),
    "cusparse.h": ("gpu",), "cublas_v2.h": ("gpu",), "cub": ("gpu", "studies"), "thrust": ("gpu",),
    "mpi.h": ("ranks/mpi",), "petscmat.h": ("studies/petsc_product",),
    "cupti.h": ("tests/soak",), "nccl.h": ("tests/gpu",),
}
NO_OPENMP = {"core/judge/reference.cpp", "core/judge/reference.h"}  # the truth stays serial
SYSTEM = re.compile(r"^(sys/\w+\.h|linux/\w+\.h|unistd\.h|spawn\.h|fcntl\.h|link\.h|pthread\.h|dirent\.h|dlfcn\.h|poll\.h|signal\.h|errno\.h|locale\.h|sched\.h|cpuid\.h)$")
STANDARD = re.compile(r"^[a-z_0-9]+$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PRINTS = re.compile(r"\b(std::cout|std::cerr|std::clog|std::exit|(?<!\w)f?printf\s*\(|(?<!_)\bexit\s*\()")
SUFFIXES = {".h", ".hpp", ".cpp", ".cu", ".cuh", ".inc"}


def room_of(path):
    folders = path.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        room = "/".join(folders[:depth])
        if room in ROOMS:
            return None if room in FLAT and depth < len(folders) else room
        if depth == 2 and f"{folders[0]}/*" in ROOMS:
            return room
    return None


def row_of(room):
    return ROOMS[room] if room in ROOMS else ROOMS[room.split("/")[0] + "/*"]


def may_include(room, target):
    def is_named(name):
        return name == target or name.endswith("/*") and target.startswith(name[:-1])
    return row_of(room) is None or target == room or any(is_named(name) for name in row_of(room))


def node_of(path):
    """A header and its source are one node."""
    return path.rsplit(".", 1)[0]


def arrows_of(path, text):
    """(from, to) of every include of a file of ours, as nodes."""
    targets = [m[2] for m in map(INCLUDE.match, text.splitlines()) if m and m[1] == '"']
    return {(node_of(path), node_of(target)) for target in targets} - {(node_of(path),) * 2}


def way_back(arrows, start, end):
    """The nodes of a shortest way from start to end along the arrows, or None."""
    came_from, front = {start: None}, [start]
    while front and end not in came_from:
        reached = [(a, b) for a in front for b in sorted(arrows.get(a, ())) if b not in came_from]
        for a, b in reversed(reached):
            came_from[b] = a
        front = [b for _, b in reached]
    if end not in came_from:
        return None
    way = [end]
    while came_from[way[0]] is not None:
        way.insert(0, came_from[way[0]])
    return way


def graph_of(arrows):
    graph = {}
    for a, b in arrows:
        graph.setdefault(a, set()).add(b)
    return graph


def circles(arrows):
    """Sentences about the circles, each once."""
    found = []
    graph = graph_of(arrows)
    told = set()
    for start in sorted(graph):
        for target in sorted(graph[start]):
            way = way_back(graph, target, start)
            if way and not told & set(way):
                told |= set(way)
                circle = " -> ".join([start] + way)
                found.append(f"these files include each other in a circle: {circle}")
    return found


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
            elif not may_include(room, target):
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
    found, arrows, count = [], set(), 0
    for top in sorted({room.split("/")[0] for room in ROOMS}):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in SUFFIXES and file.is_file():
                count += 1
                text = file.read_text(encoding="utf-8")
                found += violations(path, text)
                arrows |= arrows_of(path, text)
    if count == 0:
        found.append(f"{root}: no source files found")
    return count, found + circles(arrows)


def self_test():
    planted = [
        ("core/base/a.cpp", '#include "cpu/spmm/registry.h"\n'),
        ("cpu/spmm/a.cpp", '#include "gpu/spmm/registry.h"\n'),
        ("cpu/spmm/a.cpp", '#include "preprocess/reorder/reorder.h"\n'),
        ("gpu/spmm/a.cu", '#include "../device/cuda_check.h"\n'),
        ("tools/csr-x.cpp", "#include <cuda_runtime.h>\n"),
        ("api/a.cpp", '#include "tools/cli/json.h"\n'),
        ("cpu/spmm/a.cpp", '#include "api/csrkit.h"\n'),
        ("core/base/a.cpp", "#include <nlohmann/json.hpp>\n"),
        ("core/base/a.cpp", "#include <boost/any.hpp>\n"),
        ("core/judge/reference.cpp", "#include <omp.h>\n"),
        ("preprocess/import/a.cpp", "  std::cerr << 1;\n"),
        ("cpu/spmm/a.cpp", "  printf(\"x\");\n"),
        ("gpu/spmm/a.cu", "  exit(1);\n"),
        ("elsewhere/a.cpp", "int x;\n"),
        ("tools/elsewhere/a.cpp", "int x;\n"),
        ("core/elsewhere/a.cpp", "int x;\n"),
        ("ranks/elsewhere/a.cpp", "int x;\n"),
        ("ranks/a.cpp", "#include <mpi.h>\n"),
        ("ranks/a.cpp", '#include "cpu/spmm/registry.h"\n'),
        ("cpu/common/a.cpp", '#include "ranks/communicator.h"\n'),
        ("cpu/spgemm/a.cpp", '#include "cpu/spmm/registry.h"\n'),
        ("gpu/spmm/ladder/a.cu", '#include "gpu/spgemm/registry.h"\n'),
        ("gpu/new_operation/a.cu", '#include "gpu/spmm/registry.h"\n'),
        ("cpu/common/a.cpp", '#include "cpu/spmm/registry.h"\n'),
        ("cpu/spgemm/elsewhere/a.cpp", "int x;\n"),
        ("cpu/spgemm/accumulators/a.inc", '#include "cpu/spgemm/rows/row_products.h"\n'),
        ("cpu/spgemm/rows/a.h", '#include "cpu/spgemm/analysis/row_work.h"\n'),
        ("cpu/spgemm/analysis/a.h", '#include "cpu/spgemm/one_pass/one_pass.h"\n'),
        ("cpu/spgemm/one_pass/a.cpp", '#include "cpu/spgemm/plan.h"\n'),
        ("cpu/spgemm/vendor/a.cpp", '#include "cpu/spgemm/plan.h"\n'),
        ("cpu/spgemm/a.cpp", '#include "cpu/spgemm/ladder/ladder_rows.h"\n'),
        ("cpu/spgemm/ladder/a.cpp", '#include "cpu/spgemm/one_pass/one_pass.h"\n'),
        ("cpu/spgemm/rows/a.cpp", '#include "cpu/spmm/rows/row_kernels.h"\n'),
        (ROWS + "elsewhere/a.cu", "int x;\n"),
        (ROWS + "binning/a.h", '#include "gpu/spgemm/adaptive_rows/numeric/make.h"\n'),
        (ROWS + "numeric/bit_range/a.cuh", '#include "gpu/spgemm/adaptive_rows/workspace.h"\n'),
        ("gpu/spgemm/a.h", '#include "gpu/spgemm/adaptive_rows/rules/rules.h"\n'),
        ("gpu/device/a.cpp", '#include "gpu/plan/a.h"\n'),
        ("gpu/spmm/a.cpp", '#include "gpu/face.h"\n'),
        ("preprocess/import/a.cpp", '#include "preprocess/export/export.h"\n'),
        ("preprocess/import/elsewhere/a.cpp", "int x;\n"),
        ("preprocess/import/a.cpp", '#include "preprocess/import/text/matrix_market.h"\n'),
        ("preprocess/import/source/a.h", '#include "preprocess/import/format_reader.h"\n'),
        ("preprocess/import/text/a.cpp", '#include "preprocess/import/numpy/npz_archive.h"\n'),
        ("preprocess/export/a.cpp", '#include "preprocess/import/source/scan.h"\n'),
        ("preprocess/generate/elsewhere/a.cpp", "int x;\n"),
        ("preprocess/generate/a.cpp", '#include "preprocess/generate/drawn_rows/row_length_model.h"\n'),
        ("preprocess/generate/common/a.h", '#include "preprocess/generate/drawn_rows/drawn_row.h"\n'),
        ("preprocess/generate/drawn_rows/a.cpp", '#include "preprocess/generate/generate.h"\n'),
        ("preprocess/reorder/elsewhere/a.cpp", "int x;\n"),
        ("preprocess/reorder/a.cpp", '#include "preprocess/reorder/rcm/ranked_graph.h"\n'),
        ("preprocess/reorder/metis/a.cpp", '#include "preprocess/reorder/parts/part_nesting.h"\n'),
        ("core/base/a.h", '#include "core/matrix/csr_matrix.h"\n'),
        ("core/matrix/sort/a.h", '#include "core/file/csr_file.h"\n'),
        ("core/file/a.h", '#include "core/contract/spmm.h"\n'),
        ("core/contract/a.h", '#include "core/facts/locality.h"\n'),
        ("core/facts/a.h", '#include "core/judge/compare.h"\n'),
        ("tools/cli/a.h", '#include "tools/operation/product/measure.h"\n'),
        ("tools/operation/a.h", '#include "tools/bench/case.h"\n'),
        ("tools/operation/elsewhere/a.h", "int x;\n"),
        ("tools/operation/operands/a.h", '#include "tools/operation/product/request.h"\n'),
        ("tools/operation/product/a.cpp", '#include "tools/operation/operations/spmm.h"\n'),
        ("tools/operation/operations/a.cpp", '#include "tools/operation/operations.h"\n'),
        ("tools/forecast/a.h", '#include "tools/advise/advise.h"\n'),
        ("tools/bench/a.h", '#include "tools/forecast/forecast.h"\n'),
    ]
    clean = [
        ("preprocess/import/ogb/a.cpp", '#include "preprocess/import/numpy/npz_archive.h"\n'),
        ("tools/reorder/a.cpp", '#include "preprocess/import/numpy/npz_archive.h"\n'),
        ("core/base/b.cpp", '#include <vector>\n#include <sys/mman.h>\n#include "core/base/types.h"\n// printf(\n'),
        ("tools/cli/a.cpp", '#include <spdlog/spdlog.h>\n  std::cout << 1;\n'),
        ("tools/bench/a.h", '#include "tools/operation/product/measure.h"\n#include "tools/operation/tuning.h"\n'),
        ("tools/csr-x.cpp", '#include "tools/advise/advise.h"\n#include "gpu/spmm/registry.h"\n'),
        ("gpu/new_operation/a.cu", '#include "gpu/plan/a.h"\n#include "gpu/device/streams/stream.h"\n'),
        ("cpu/spgemm/a.cpp", '#include "cpu/spgemm/one_pass/at_once.h"\n#include "cpu/spgemm/vendor/vendor.h"\n'),
        ("cpu/spgemm/analysis/a.cpp", '#include "cpu/spgemm/rows/row_products.h"\n'),
        ("cpu/spgemm/ladder/a.h", '#include "cpu/spgemm/plan.h"\n#include "cpu/spgemm/rows/row_products.h"\n'),
        (ROWS + "a.cpp", '#include "gpu/spgemm/adaptive_rows/numeric/make.h"\n'),
        ("cpu/spmm/a.cpp", '  throw Error("printf( is only text");\n  snprintf(b, 2, "x"); _exit(1);\n'),
    ]
    header_and_source = [("core/base/a.h", ""), ("core/base/a.cpp", '#include "core/base/a.h"\n')]
    circle = [("core/base/a.h", ""), ("core/base/a.cpp", '#include "core/base/b.h"\n'),
              ("core/base/b.h", '#include "core/base/c.h"\n'),
              ("core/base/c.cpp", '#include "core/base/a.h"\n')]
    # (files, how many complaints about circles)
    trees = [
        (header_and_source, 0),
        (circle, 1),
        (circle[:-1], 0),
        (circle[:2] + circle[3:], 0),
    ]
    missed = [f"missed: {path}: {text!r}" for path, text in planted if not violations(path, text)]
    for files, expected in trees:
        complaints = circles(set().union(*(arrows_of(*file) for file in files)))
        if len(complaints) != expected:
            missed.append(f"expected {expected} complaints about {files}: {complaints}")
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
