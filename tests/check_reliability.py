#!/usr/bin/env python3
"""Every test that docs/reliability.md names for a promise is one that ctest -R finds.

Usage: check_reliability.py ROOT BUILD     exit code 77 where not all tests were built
"""
import pathlib
import re
import subprocess
import sys

OF_GPU_CODE = ("R11",)  # whose tests are there where GPU code is built


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    listed = subprocess.run(["ctest", "--test-dir", sys.argv[2], "-N"], stdout=subprocess.PIPE, text=True, check=True).stdout
    tests = re.findall(r"^ *Test +#\d+: (\S+)", listed, flags=re.M)
    if any(name.endswith("NOT_BUILT") for name in tests):
        print("skipped: not all tests were built")
        return 77
    page = (pathlib.Path(sys.argv[1]) / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (R\d+) \|[^|]*\|([^|]*)\|", page, flags=re.M)
    if not any(name.startswith("gpu.") for name in tests):
        rows = [(row, cell) for row, cell in rows if row not in OF_GPU_CODE]
    names = [(row, name) for row, cell in rows for name in re.findall(r"`([^`]+)`", cell)]
    missing = [f"{row}: ctest -R '{name}' finds nothing" for row, name in names if not any(re.search(name, t) for t in tests)]
    if not names:
        missing.append("docs/reliability.md names no test")
    print("\n".join(missing) or f"check_reliability: {len(names)} names lead to tests")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
