#!/usr/bin/env bash
# Lint: lint.sh shellcheck | format | format --fix. Exit 77 (skipped) if the tool is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Outside a git checkout (a release archive) the tree itself is the list.
files() { git ls-files --cached --others --exclude-standard -- "$@" 2>/dev/null || find . -name "${1#\*}"; }

case ${1:-} in
  shellcheck)
    command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
    mapfile -t scripts < <(files '*.sh'; files '.ci/run')
    shellcheck "${scripts[@]}"
    echo "shellcheck: ${#scripts[@]} scripts are clean"
    ;;
  format)
    command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
    mapfile -t sources < <(files '*.h'; files '*.cpp'; files '*.cu'; files '*.cuh')
    if [[ ${2:-} == --fix ]]; then
      clang-format -i "${sources[@]}"
    else
      clang-format --dry-run --Werror "${sources[@]}"
    fi
    echo "clang-format: ${#sources[@]} files"
    ;;
  *) echo "usage: lint.sh shellcheck | format [--fix]" >&2; exit 2 ;;
esac
