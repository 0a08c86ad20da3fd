#!/usr/bin/env python3
"""clang-tidy over the sources of the libraries and tools, by the compile commands of a build folder.

Usage: check_tidy.py ROOT BUILD_DIR [PART/PARTS]
       check_tidy.py --self-test    check that planted findings are found

Sources that are compiled by the same options are checked several at a time, as if one file included them all: most of
the time goes into the system's headers, which are then read once. Each main gets another name. Where names clash, or a
source is not clean, the sources that are named in errors are checked apart from the others.
A part is every PARTS-th group, so that CTest can run the parts side by side. A source that the build leaves out
(a vendor that is not installed, say) is left out here, too. What the tests compile once more is not checked again.
Exits with 77 (skipped) if clang-tidy is not installed.
"""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

CHECKED = re.compile(r"(core|preprocess|cpu|api|tools)/.*\.(cpp|cxx)")
# These switch instruction sets by GCC's pragmas, which clang does not know.
GCC_ONLY = re.compile(r"cpu/(sddmm/dots|spmm/(rows/(banded_rows|row_kernels)|chunk_loops)|spmv/inner_loops|spgemm/rows/row_products)(_\w+)?\.cpp")
MOST_TOGETHER = 16


def commands_of(root, build):
    """The compile commands of the sources that are checked, in the order of their names."""
    commands = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(command["file"])
        # Sources that are compiled together are included by a file in the build folder.
        base = build if build in path.parents else root
        name = path.relative_to(base).as_posix() if base in path.parents else ""
        if CHECKED.fullmatch(name) and not GCC_ONLY.fullmatch(name) and " -o tests/" not in command["command"]:
            commands.setdefault(name, command)
    return [commands[name] for name in sorted(commands)]


def flags_of(command):
    """What a compile command says besides its source and its output."""
    words = shlex.split(command["command"])
    at = words.index("-o")
    return tuple(word for word in words[:at] + words[at + 2:] if word not in ("-c", command["file"]))


def groups_of(commands):
    """Lists of commands that differ in nothing but the source and the output. What is compiled together already is
    checked alone."""
    alike = {}
    for command in commands:
        path = pathlib.Path(command["file"])
        alike.setdefault((path if path.suffix == ".cxx" else None, flags_of(command)), []).append(command)
    return [each[at:at + MOST_TOGETHER] for each in alike.values() for at in range(0, len(each), MOST_TOGETHER)]


def findings(root, group):
    """What clang-tidy reports of these sources, as text; empty if they are clean."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "together.cpp")
        # Each program keeps a main of its own.
        source.write_text("".join(f'#define main main_{number}\n#include "{command["file"]}"\n#undef main\n'
                                  for number, command in enumerate(group)))
        command = shlex.join((*flags_of(group[0]), "-c", str(source)))
        together = {"directory": group[0]["directory"], "file": str(source), "command": command}
        checked = together if len(group) > 1 else group[0]
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps([checked]))
        # Here sources are included on purpose.
        options = [f"--config-file={root}/.clang-tidy", "-p", folder, "--quiet", "--checks=-bugprone-suspicious-include"]
        ran = subprocess.run(["clang-tidy", *options, checked["file"]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    if ran.returncode == 0:
        return ""
    if len(group) > 1:  # names clash, or some sources are not clean
        named = set(re.findall(r"^(\S+?):\d+:\d+: error:", ran.stdout, re.MULTILINE))
        apart = [command for command in group if command["file"] in named]
        if len(apart) in (0, len(group)):
            apart = group[len(group) // 2:]
        return findings(root, [command for command in group if command not in apart]) + findings(root, apart)
    # stderr has the number of warnings in headers of the system, or what went wrong.
    return ran.stdout + ran.stderr


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        sources = {"core/bad.cpp": "namespace { int twice() { return 2; } }\nint* none() { return 0; }\n"
                                "int _Reserved = 1;\n#define _RESERVED 2",
                   "core/clean.cpp": "int one() { return 1; }",
                   "core/clashes.cpp": "namespace { int twice() { return 4; } }",
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
        shutil.copy(pathlib.Path(__file__).resolve().parent.parent / ".clang-tidy", root)
        bad, clashes, clean, both = commands_of(root, root / "build")
        pathlib.Path(clean["file"]).write_text("int main() { return 1; }\n")
        pathlib.Path(clashes["file"]).write_text(sources["core/clashes.cpp"] + "\nint main() { return 2; }\n")
        assert groups_of([bad, clashes, clean, both]) == [[bad, clashes, clean], [both]]
        assert not findings(root, [clean, clashes])
        for group in [clean, bad], [bad, clashes, clean], [both]:
            report = findings(root, group)
            for check in ("modernize-use-nullptr", "clang-diagnostic-reserved-identifier",
                          "clang-diagnostic-reserved-macro-identifier"):
                assert report.count(f"[{check}") == 1, (check, group)
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
    groups = groups_of(commands_of(root, build))[part - 1::parts]
    if not groups:
        sys.exit(f"{build}/compile_commands.json names no source of {root}; configure again")
    report = "".join(findings(root, group) for group in groups)
    if report:
        sys.exit(report)
    print(f"clang-tidy: {sum(map(len, groups))} files are clean")


if __name__ == "__main__":
    main()
