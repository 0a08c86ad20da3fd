#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Needs nothing outside the repository.
#
# Usage: test.sh [--no-install] [--preset NAME] [-- CTEST ARGUMENTS]
#   --no-install  do not install packages (for users without root; see docs/dependencies.md)
#   --preset      release (default), cpu-only, debug, ci or gpu: see docs/dependencies.md
# CSRKIT_DATA_DIR=<folder> adds the tests on larger matrices; without it they report "skipped", as
# the GPU tests do on a machine without a GPU (CSRKIT_REQUIRE_GPU=1 makes that a failure).
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/messages.sh"
cd "$(dirname "$0")/.."

install_flags=(--tests)
preset=release
while (($#)); do
  case $1 in
    --no-install) install_flags+=(--no-install); shift ;;
    --preset) needs_value "$@"; preset=$2; shift 2 ;;
    --) shift; break ;;
    *) unknown "$1" ;;
  esac
done

run_scripts/install_dependencies.sh "${install_flags[@]}"
jobs=$(nproc)
# The quick start configures the same folder without tests.
cmake --preset "$preset" -DCSRKIT_TESTS=ON -DCSRKIT_STUDIES=ON
cmake --build --preset "$preset" --parallel "$jobs"
# One more than cores: slurm.* come first, and mostly wait.
ctest --preset "$preset" --parallel "$((jobs + 1))" --no-tests=error "$@"
