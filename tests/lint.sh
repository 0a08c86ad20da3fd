#!/usr/bin/env bash
# Lint: lint.sh shellcheck | format [--fix] | columns [--fix]. Exit 77 (skipped) if the tool is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

git rev-parse --is-inside-work-tree >/dev/null 2>&1 ||
  { echo "skipped: not a git checkout, so nobody can say which files are sources"; exit 77; }
files() { git ls-files --cached --others --exclude-standard -- "$@"; }
# Of the *.inc only loops are code: tables of contents are as wide as they have to be.
code() {
  files '*.h'; files '*.cpp'; files '*.cu'; files '*.cuh'
  files 'cpu/*.inc' ':!cpu/*/kernels.inc' ':!cpu/*/marks.inc'
}

case ${1:-} in
  shellcheck)
    command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
    mapfile -t scripts < <(files '*.sh'; files '.ci/run')
    shellcheck "${scripts[@]}"
    echo "shellcheck: ${#scripts[@]} scripts are clean"
    ;;
  format)
    command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
    mapfile -t sources < <(code)
    if [[ ${2:-} == --fix ]]; then
      clang-format -i "${sources[@]}"
    else
      clang-format --dry-run --Werror "${sources[@]}"
    fi
    echo "clang-format: ${#sources[@]} files"
    ;;
  columns)
    # clang-format leaves comments alone. Results are generated, logs stay as they were written.
    mapfile -t sources < <(code; files '*.md' ':!docs/results' ':!docs/lab')
    python3 tests/check_columns.py ${2:+"$2"} "${sources[@]}"
    ;;
  *) echo "usage: lint.sh shellcheck | format [--fix] | columns [--fix]" >&2; exit 2 ;;
esac
