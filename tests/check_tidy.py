#!/usr/bin/env python3
"""clang-tidy over the sources of the libraries and tools, by the compile commands of a build folder.

Usage: check_tidy.py ROOT BUILD_DIR [PART/PARTS]
       check_tidy.py --self-test    check that a planted finding is found

A part is every PARTS-th source, so that CTest can run the parts side by side. A source that the build
leaves out (a peer that is not installed, say) is left out here, too. Sources that are compiled together
are checked together, and what the tests compile once more is not checked again. Exits with 77 (skipped)
if clang-tidy is not installed.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CHECKED = re.compile(r"(core|preprocess|cpu|api|tools)/.*\.(cpp|cxx)")
# These switch instruction sets by GCC's pragmas, which clang does not know.
GCC_ONLY = re.compile(r"cpu/(sddmm/dots|spmm/row_kernels|spmv/inner_loops|spgemm/row_products)(_\w+)?\.cpp")


def commands_of(root, build, part=1, parts=1):
    """The compile commands of the sources that are checked, in the order of their names."""
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(command["file"])
        # Sources that are compiled together are included by a file in the build folder.
        base = build if build in path.parents else root
        name = path.relative_to(base).as_posix() if base in path.parents else ""
        if CHECKED.fullmatch(name) and not GCC_ONLY.fullmatch(name) and " -o tests/" not in command["command"]:
            commands.setdefault(name, command)
    return [commands[name] for name in sorted(commands)][part - 1::parts]


def findings(commands):
    """What clang-tidy reports, as text; empty if the sources are clean."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands))
        # CMake's files that compile sources together include them: nothing to suspect there.
        options = ["-p", folder, "--quiet", "--checks=-bugprone-suspicious-include"]
        ran = subprocess.run(["clang-tidy", *options, *(c["file"] for c in commands)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # stderr has the number of warnings in headers of the system, or what went wrong.
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        shutil.copy(pathlib.Path(__file__).resolve().parent.parent / ".clang-tidy", root)
        sources = {"core/bad.cpp": "int* none() { return 0; }", "core/clean.cpp": "int one() { return 1; }",
                   "build/tools/both.cxx": '#include "../../core/clean.cpp"\n#include "../../core/bad.cpp"'}
        commands = []
        for name, text in sources.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
            for output in ("tests/first.o", "core/second.o"):
                commands.append({"directory": folder, "file": str(file),
                                 "command": f"c++ -std=c++17 -o {output} -c {file}"})
        (root / "build/compile_commands.json").write_text(json.dumps(commands))
        bad, clean, both = commands_of(root, root / "build")
        assert commands_of(root, root / "build", 2, 2) == [clean]
        assert not findings([clean])
        assert "modernize-use-nullptr" in findings([bad, clean])
        assert "modernize-use-nullptr" in findings([both])
    print("clang-tidy finds what was planted")


def main():
    if not shutil.which("clang-tidy"):
        print("skipped: clang-tidy is not installed")
        sys.exit(77)
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    root, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    part, parts = map(int, sys.argv[3].split("/")) if len(sys.argv) == 4 else (1, 1)
    commands = commands_of(root, build, part, parts)
    if not commands:
        sys.exit(f"{build}/compile_commands.json names no source of {root}; configure again")
    report = findings(commands)
    if report:
        sys.exit(report)
    print(f"clang-tidy: {len(commands)} files are clean")


if __name__ == "__main__":
    main()
