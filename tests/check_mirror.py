#!/usr/bin/env python3
"""Holds which source file is tested where, and fails on any that is tested nowhere.

Usage: check_mirror.py ROOT        check every source file below ROOT
       check_mirror.py --self-test check that planted gaps are found

core/file/csr_file.cpp is tested by tests/unit/core/file/csr_file_test.cpp, Python by Python, and so on. What is tested
elsewhere has a row in SHARED that says where and why. A row or a unit test that belongs to no source is an error, and
so is a folder of tests/gpu that gpu does not have.
"""
import fnmatch
import pathlib
import sys

ROOMS = ("core", "preprocess", "cpu/common", "gpu/device", "gpu/plan", "ranks", "api", "tools")
SUFFIXES = (".cpp", ".cu", ".py")

# pattern of sources without a test of their own -> (where they are tested, why there)
SHARED = {
    "api/measured_flags.cpp": ("tests/unit/tools/info/matrix_facts_test.cpp", "symmetry, in words"),
    "core/base/huge_pages.cpp": (None, "advice to the system: nothing that a test could see"),
    "core/base/own_library.cpp": ("tests/cli/library/preloaded.sh tests/cli/all/gpu_library.sh",
                                  "needs libraries as they are installed"),
    "core/file/csr_file_writer.cpp": ("tests/unit/core/file/csr_file_test.cpp",
                                      "what is written must be what is read"),
    "core/file/csr_file_s*.cpp": ("tests/unit/core/file/csr_file_test.cpp", "what both writers make must be the same"),
    "core/file/csr_file_checks.cpp": ("tests/unit/core/file/csr_file_test.cpp "
                                      "tests/unit/core/file/rank_part_test.cpp",
                                      "what the readers of files and of parts share"),
    "core/file/csr_file_decode.cpp": ("tests/unit/core/file/csr_file_layout_test.cpp "
                                      "tests/unit/core/file/csr_file_test.cpp",
                                      "takes what csr_file_layout.cpp makes, and no other header"),
    "core/file/file_memory.cpp": ("tests/unit/core/file/csr_file_test.cpp",
                                  "every file is mapped, and read"),
    "core/file/rank_heads.cpp": ("tests/unit/core/file/rank_sections_test.cpp "
                                 "tests/unit/core/file/rank_part_test.cpp",
                                 "what is decoded there is what rank_sections.cpp made"),
    "core/file/rank_lists.cpp": ("tests/unit/core/file/rank_sections_test.cpp "
                                 "tests/unit/core/file/rank_part_test.cpp", "as rank_heads.cpp"),
    "core/judge/projections.cpp": ("tests/unit/core/judge/compare_test.cpp "
                                   "tests/unit/core/judge/compare_spgemm_test.cpp",
                                   "what their checks of samples share"),
    "core/matrix/sort/*": ("tests/unit/core/matrix/sort/coo_to_csr_test.cpp",
                           "steps of one sort, tested by what comes out of it"),
    "ranks/mpi_ranks.cpp": ("tests/cli/spmm-dist/launchers.sh", "needs a launcher, or none"),
    "ranks/spmm_check.cpp": ("tests/unit/ranks/spmm_test.cpp", "judges what that makes"),
    "tools/forecast/rank_parts.cpp": ("tests/cli/forecast/ranks.sh", "needs files with parts"),
    "tools/forecast/rank_report.cpp": ("tests/cli/forecast/ranks.sh", "options in, tables out"),
    "tools/ranks/gpu_seats.cpp": ("tests/cli/spmm-dist/gpus.sh tests/cli/spmm-dist/several_gpus.sh", "needs GPUs"),
    "tools/ranks/spgemm_*.cpp": ("tests/cli/spgemm-dist/ranks.sh tests/cli/golden/csr-spgemm-dist.sh",
                                 "one tool, as its users see it"),
    "tools/ranks/spmm_*.cpp": ("tests/cli/spmm-dist/launchers.sh tests/cli/spmm-dist/mpirun.sh "
                               "tests/cli/golden/csr-spmm-dist.sh",
                               "one tool, as its users see it"),
    "ranks/mpi/*": ("tests/cli/spmm-dist/mpirun.sh", "needs processes that mpirun started"),
    "preprocess/export/*": ("tests/unit/preprocess/export/export_test.cpp",
                            "every format is written and read back"),
    "preprocess/generate/*": ("tests/unit/preprocess/generate/generate_test.cpp "
                              "tests/unit/preprocess/generate/patterns/graphs_test.cpp "
                              "tests/unit/preprocess/generate/patterns/stencils_test.cpp",
                              "rules for every pattern, then what is special to kinds of them"),
    "preprocess/import/binary/*": ("tests/unit/preprocess/import/binary/binary_formats_test.cpp "
                                   "tests/unit/preprocess/import/binary/headerless_test.cpp",
                                   "formats with a header and without, and what they share"),
    "preprocess/import/format_reader.cpp": ("tests/unit/preprocess/import/import_test.cpp",
                                            "what the formats share"),
    "preprocess/import/numpy/npz_archive.cpp": ("tests/unit/preprocess/import/numpy/npz_test.cpp",
                                                "the container of that format"),
    "preprocess/import/ogb/*": ("tests/unit/preprocess/import/ogb/ogb_test.cpp tests/cli/import/ogb.sh "
                                "tests/cli/import/ogb_package.sh",
                                "parts of that format"),
    "preprocess/import/source/archive_walk.cpp": ("tests/unit/preprocess/import/source/byte_source_test.cpp",
                                                  "archives are byte sources"),
    "preprocess/import/source/headed_source.cpp": ("tests/unit/preprocess/import/archives/zip_archive_test.cpp",
                                                   "how that format looks into a member"),
    "preprocess/import/source/inflater.cpp": ("tests/unit/preprocess/import/source/gzip_source_test.cpp",
                                              "one of two libraries, behind that source"),
    "preprocess/import/source/line_reader.cpp": ("tests/unit/preprocess/import/source/byte_source_test.cpp",
                                                 "lines of a byte source"),
    "preprocess/import/source/scan.cpp": ("tests/unit/preprocess/import/text/edge_list_test.cpp",
                                          "the numbers of text formats"),
    "preprocess/import/archives/suitesparse_tar.cpp": ("tests/unit/preprocess/import/source/byte_source_test.cpp",
                                                       "an archive is a byte source"),
    "preprocess/import/text/entry_*.cpp": ("tests/unit/preprocess/import/text/matrix_market_test.cpp "
                                           "tests/unit/preprocess/import/manifest_test.cpp",
                                           "the numbers of text formats, in files of all kinds"),
    "preprocess/import/text/matrix_market_header.cpp": (
        "tests/unit/preprocess/import/text/matrix_market_test.cpp", "the first lines of that format"),
    "preprocess/import/text/metis_lines.cpp": ("tests/unit/preprocess/import/text/metis_graph_test.cpp",
                                               "the lines of that format"),
    "preprocess/reorder/community/aggregation.cpp": ("tests/unit/preprocess/reorder/community/community_test.cpp",
                                                     "a step of that ordering"),
    "preprocess/reorder/community/group_moves.cpp": ("tests/unit/preprocess/reorder/community/community_test.cpp",
                                                     "a step of that ordering"),
    "preprocess/reorder/metis/helper/csrkit-metis.cpp": ("tests/unit/preprocess/reorder/metis/metis_call_test.cpp",
                                                         "a program that only metis_call starts"),
    "preprocess/transform/pattern.cpp": ("tests/unit/preprocess/transform/values_test.cpp",
                                         "one of the transforms of values"),
    "cpu/common/operator_plan.cpp": ("tests/unit/cpu/spmm/spmm_test.cpp", "a plan needs a kernel"),
    "cpu/common/reference.cpp": ("tests/property/spmm/every_kernel_test.cpp", "a kernel of every table"),
    "cpu/common/vendor/vendor_eigen_product.cpp": ("tests/property/spmm/every_kernel_test.cpp "
                                                   "tests/property/spmv/every_kernel_test.cpp",
                                                   "built where Eigen is found, and a row of two tables"),
    "gpu/device/*": ("tests/gpu/device/device_test.cu", "needs a GPU"),
    "gpu/plan/operator_plan.cpp": ("tests/gpu/spmm/every_kernel_test.cpp tests/gpu/spmv/every_kernel_test.cpp",
                                   "needs a GPU, and a kernel"),
    "gpu/plan/operands.cpp": ("tests/gpu/spmm/device_memory_test.cpp", "needs a GPU, and a kernel"),
    "tools/csr-*.cpp": ("tests/cli/all/examples.sh", "mains: the cases in tests/cli run them"),
    "tools/bench/run.cpp": ("tests/cli/bench/records.sh", "a flow from matrices to records"),
    "tools/convert/*_run.cpp": ("tests/unit/tools/convert/import_options_test.cpp "
                                "tests/cli/import/transforms.sh tests/cli/export/round_trip.sh "
                                "tests/cli/generate/same_bits.sh",
                                "command lines, then files that go in and out"),
    "tools/info/*_report.cpp": ("tests/cli/info/modes.sh tests/cli/density/counts.sh",
                                "the words of two tools"),
    "tools/probe/*s.cpp": ("tests/cli/probe/profile.sh", "measures for seconds"),
    "tools/probe/run.cpp": ("tests/cli/probe/profile.sh", "measures for seconds"),
    "tools/solve/*": ("tests/cli/solve-cpu/known_solutions.sh tests/cli/solve-cpu/failures.sh",
                      "a flow from a command line to a solution"),
    "tools/pages/make_pages.py": ("tests/cli/all/completions.sh", "shells and man say whether it is right"),
    "tools/report/__init__.py": (None, "a line that says what the folder is"),
    "tools/report/command_line.py": ("tests/cli/report/usage.sh", "the words of one tool"),
    "tools/report/atomic_file.py": ("tests/cli/report/outputs.sh", "files that must survive faults"),
    "tools/report/csr_reader.py": ("tests/cli/report/page.sh", "reads files that the other tools made"),
    "tools/report/figure.py": ("tests/unit/tools/report/figures_test.py", "what every figure is"),
    "tools/report/json_reader.py": ("tests/cli/all/mutated_json.sh", "one reader of JSON for all inputs"),
    "tools/report/outputs.py": ("tests/unit/tools/report/tables_test.py", "the same rows in other formats"),
    "tools/report/png.py": ("tests/unit/tools/report/pictures_test.py", "the format of those pictures"),
    "tools/report/printable.py": ("tests/cli/all/plain_logs.sh", "names from files cannot obey a terminal"),
    "tools/report/profile.py": ("tests/unit/tools/report/bundle_test.py", "one of the inputs"),
    "tools/report/summary.py": ("tests/unit/tools/report/page_test.py", "the head of the page"),
    "tools/reorder/run.cpp": ("tests/cli/reorder/chain.sh", "a flow from a file to a file"),
    "tools/partition/*": ("tests/cli/partition/levels.sh tests/cli/partition/refusals.sh",
                          "a flow from a command line to a file"),
    "tools/info/part_levels.cpp": ("tests/cli/partition/levels.sh", "the words of two tools"),
    "tools/forecast/report.cpp": ("tests/cli/forecast/memory.sh", "the words of one tool"),
    "tools/operation/operations/sp*.cpp": ("tests/unit/tools/operation/product/operation_test.cpp "
                                           "tests/cli/spmm-cpu/every_kernel.sh "
                                           "tests/cli/spgemm-cpu/every_kernel.sh",
                                           "one test for every operation in the table, and each one's tool"),
    "tools/operation/operations/sddmm.cpp": ("tests/unit/tools/operation/product/operation_test.cpp "
                                             "tests/cli/sddmm-cpu/every_kernel.sh",
                                             "the same test, and its tool"),
    "tools/operation/tool.cpp": ("tests/cli/spmm-cpu/every_kernel.sh tests/cli/bench/tuned.sh",
                                 "a flow from a command line to a report"),
}


def tests_of(pattern):
    return (SHARED[pattern][0] or "").split()


def gaps(sources, tests, exists):
    """What is wrong. `sources` and `tests` are paths, `exists` says whether a path is a file."""
    found = []
    used = set()
    own = set()
    for source in sources:
        stem, _, suffix = source.rpartition(".")
        test = f"tests/unit/{stem}_test.{'py' if suffix == 'py' else 'cpp'}"
        rows = [pattern for pattern in SHARED if fnmatch.fnmatchcase(source, pattern)]
        if test in tests:
            own.add(test)
        elif rows:
            used.update(rows)
        else:
            found.append(f"{source}: no test; write {test}, or say in check_mirror.py what tests it")
    for pattern, (test, _) in SHARED.items():
        if pattern not in used:
            found.append(f"check_mirror.py: every file of {pattern} has a test of its own, or there is "
                         "none: remove the row")
        for test in tests_of(pattern):
            if not exists(test):
                found.append(f"check_mirror.py: {test}, which tests {pattern}, does not exist")
    for test in sorted(set(tests) - own - {test for row in SHARED for test in tests_of(row)}):
        stem = test.removeprefix("tests/unit/").rpartition("_test.")[0]
        if stem.startswith(ROOMS) and not any(exists(stem + suffix) for suffix in (".h", ".cuh", *SUFFIXES)):
            found.append(f"{test}: there is no {stem}.*; move the test to where its source is")
    return found


def strange_folders(folders, exists):
    """Kernels are tested by what they make, so files of tests/gpu need no source; their folders do."""
    return [f"{folder}: there is no {mirrored}; move the tests to where their sources are"
            for folder, mirrored in ((folder, folder.removeprefix("tests/")) for folder in folders)
            if not exists(mirrored)]


def check_tree(root):
    def files(folder):
        return (path.relative_to(root).as_posix() for path in sorted((root / folder).rglob("*"))
                if path.suffix in SUFFIXES)
    sources = [path for room in ROOMS for path in files(room)]
    tests = {path for path in files("tests/unit") if path.endswith("_test.cpp")}
    tests |= {path for path in files("tests/unit/tools") if path.endswith("_test.py")}
    folders = (path.relative_to(root).as_posix() for path in sorted((root / "tests/gpu").rglob("*")) if path.is_dir())
    return len(sources), (gaps(sources, tests, lambda path: (root / path).is_file()) +
                          strange_folders(folders, lambda path: (root / path).is_dir()))


def self_test():
    rows = [pattern.replace("*", "x.cpp") for pattern in SHARED]  # a source for every row
    shared = {test for row in SHARED for test in tests_of(row)}
    mine, test = "core/base/a.cpp", "tests/unit/core/base/a_test.cpp"
    # (sources, tests, files, how many complaints)
    trees = [
        (rows, set(), shared, 0),
        (rows + [mine], set(), shared, 1),
        (rows + [mine], {test}, shared | {mine}, 0),
        (rows, {test}, shared, 1),                    # its source is gone
        (rows, {test}, shared | {"core/base/a.h"}, 0),
        (rows[1:], set(), shared, 1),                 # a row without a source
        (rows, set(), shared - set(tests_of("gpu/device/*")), 1),
    ]
    missed = []
    for sources, tests, files, expected in trees:
        complaints = gaps(sources, tests, files.__contains__)
        if len(complaints) != expected:
            missed.append(f"expected {expected} complaints, found {complaints}")
    strange = strange_folders(["tests/gpu/spmm", "tests/gpu/elsewhere"], {"gpu/spmm"}.__contains__)
    if len(strange) != 1 or "tests/gpu/elsewhere" not in strange[0]:
        missed.append(f"expected a complaint about tests/gpu/elsewhere, found {strange}")
    return missed


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--self-test":
        found = self_test()
        print("\n".join(found) or "check_mirror: every planted gap was found")
    else:
        count, found = check_tree(pathlib.Path(sys.argv[1]))
        print("\n".join(found) or f"check_mirror: {count} source files have their tests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
