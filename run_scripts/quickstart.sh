#!/usr/bin/env bash
# From a fresh clone to a checked SpMM throughput table, on the real graph that ships with csrkit.
#
# Usage: quickstart.sh [--gpu] [--no-install] [--build-dir DIR] [--work-dir DIR]
#   --gpu         build the GPU code even where there is no GPU (it takes longer; needs nvcc)
#   --no-install  do not install packages (for users without root; see docs/dependencies.md)
#   --build-dir   where to build (default: build/release)
#   --work-dir    where the .csr files and records go (default: build/quickstart)
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/messages.sh"
cd "$(dirname "$0")/.."

install_flags=()
cmake_flags=(-DCSRKIT_TESTS=OFF -DCSRKIT_STUDIES=OFF)
build_dir=build/release
work_dir=build/quickstart
while (($#)); do
  case $1 in
    --gpu) cmake_flags+=(-DCSRKIT_CUDA=ON); shift ;;
    --no-install) install_flags+=(--no-install); shift ;;
    --build-dir) needs_value "$@"; build_dir=$2; shift 2 ;;
    --work-dir) needs_value "$@"; work_dir=$2; shift 2 ;;
    *) unknown "$1" ;;
  esac
done

step() { printf '\n== %s\n' "$*"; }

step "1/4 packages"
run_scripts/install_dependencies.sh "${install_flags[@]}"

step "2/4 build"
jobs=$(nproc)
mkdir -p "$build_dir" "$work_dir"
configure_log=$build_dir/configure.log
cmake --preset release -B "$build_dir" "${cmake_flags[@]}" >"$configure_log" 2>&1 || {
  cat "$configure_log" >&2
  exit 1
}
grep -E 'GPU code:|METIS orderings:' "$configure_log" || true
build_log=$build_dir/build.log
echo "it takes some minutes; how far it is stands in $build_log"
cmake --build "$build_dir" --parallel "$jobs" >"$build_log" 2>&1 || {
  tail -n 40 "$build_log" >&2
  exit 1
}
tail -n 1 "$build_log"
tools=$build_dir/tools

step "3/4 one real graph: import once, reorder once (ogbn-arxiv, 169,343 papers, 1,166,243 citations)"
set -x
"$tools/csr-import" datasets/ogbn-arxiv.mtx.gz "$work_dir/arxiv.csr" --force
"$tools/csr-reorder" "$work_dir/arxiv.csr" "$work_dir/arxiv-rcm.csr" --method rcm --force
{ set +x; } 2>/dev/null

kernels=cpu.reference,cpu.row_parallel,cpu.auto
if [[ -x $tools/csr-spmm-gpu ]] && "$tools/csr-spmm-gpu" "$work_dir/arxiv.csr" -k 32 --check --quiet >/dev/null 2>&1; then
  kernels+=,gpu.vendor_cusparse,gpu.auto
fi

step "4/4 multiply, check against the float64 reference, and time"
set -x
"$tools/csr-bench" "$work_dir/arxiv.csr" "$work_dir/arxiv-rcm.csr" --kernels "$kernels" \
  -k 32,128 --check --warmup 1 --repeat 3 --records "$work_dir/records.jsonl" --against cpu.row_parallel
{ set +x; } 2>/dev/null

cat <<MESSAGE

Done. Your own graph goes the same way:
  $tools/csr-import my_graph.mtx my_graph.csr
  $tools/csr-info my_graph.csr
  $tools/csr-spmm-cpu my_graph.csr -k 128 --check
Records of this run: $work_dir/records.jsonl. All tools: README.md and docs/tools/.
MESSAGE
