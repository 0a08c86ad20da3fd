#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: build, run every GPU test (a skip is a failure there), run
# compute-sanitizer over the small ones (gpu_sanitizer.py), and print one table of CPU, naive GPU and cuSPARSE on
# ogbn-arxiv. Needs nvcc, compute-sanitizer and the packages of docs/dependencies.md.
#
# Usage: gpu_check.sh [--build-dir DIR] [--out DIR] [--skip-sanitizer] [--architecture NN]
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/../messages.sh"
cd "$(dirname "$0")/../.."

build_dir=build/gpu
out_dir=build/gpu-check
architecture=90
sanitizer=yes
while (($#)); do
  case $1 in
    --build-dir) needs_value "$@"; build_dir=$2; shift 2 ;;
    --out) needs_value "$@"; out_dir=$2; shift 2 ;;
    --architecture) needs_value "$@"; architecture=$2; shift 2 ;;
    --skip-sanitizer) sanitizer=no; shift ;;
    *) unknown "$1" ;;
  esac
done
export CSRKIT_REQUIRE_GPU=1
mkdir -p "$out_dir"
failures=()

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
attempt() { # attempt NAME COMMAND...: its log goes to out_dir, its failure to the summary
  local name=$1 log=$out_dir/$1.log
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok      $name ($SECONDS s)"
  else
    echo "FAILED  $name ($SECONDS s), see $log"
    tail -n 15 "$log"
    failures+=("$name")
  fi
}

parts() { # parts NAME COUNT COMMAND...: a test program, its tests dealt to COUNT processes
  local name=$1 count=$2 pids=() bad=() i
  shift 2
  for ((i = 0; i < count; ++i)); do
    GTEST_TOTAL_SHARDS=$count GTEST_SHARD_INDEX=$i "$@" >"$out_dir/$name-$i.log" 2>&1 &
    pids+=($!)
  done
  for i in "${!pids[@]}"; do
    wait "${pids[i]}" || bad+=("$out_dir/$name-$i.log")
  done
  if ((${#bad[@]} == 0)); then
    echo "ok      $name ($SECONDS s)"
  else
    echo "FAILED  $name ($SECONDS s), see ${bad[*]}"
    tail -qn 15 "${bad[@]}"
    failures+=("$name")
  fi
}

step build
cmake --preset gpu -B "$build_dir" -DCMAKE_CUDA_ARCHITECTURES="$architecture" >"$out_dir/configure.log" 2>&1 ||
  { cat "$out_dir/configure.log"; exit 1; }
cmake --build "$build_dir" --parallel "$(nproc)" --target gpu \
  csr-import csr-generate csr-bench csr-info csr-spmm-gpu csr-spmv-gpu csr-spgemm-gpu csr-sddmm-gpu csr-solve-gpu >"$out_dir/build.log" 2>&1 ||
  { tail -n 40 "$out_dir/build.log"; exit 1; }

step "GPU tests"
# Processes take turns on a device, threads of one do not: few processes, many threads.
CSRKIT_TEST_THREADS=6 parts gpu-tests 2 timeout 900 "$build_dir/tests/gpu" --gtest_filter='-Sanitizer*:SlowBig*' --gtest_brief=1
attempt gpu-tests-big timeout 900 "$build_dir/tests/gpu" --gtest_filter='SlowBig*' --gtest_brief=1

if [[ $sanitizer == yes ]]; then
  step compute-sanitizer
  attempt sanitizer run_scripts/measure/gpu_sanitizer.py --build-dir "$build_dir" --record "$out_dir/sanitizer.jsonl"
fi

step "CPU, naive GPU and cuSPARSE on ogbn-arxiv"
tools=$build_dir/tools
"$tools/csr-import" datasets/ogbn-arxiv.mtx.gz "$out_dir/arxiv.csr" --force >"$out_dir/import.log"
"$tools/csr-bench" "$out_dir/arxiv.csr" -k 32,128 --check --records "$out_dir/records.jsonl" \
  --kernels cpu.reference,cpu.row_parallel,cpu.auto,gpu.v0_thread_per_element,gpu.v1_warp_per_row,gpu.row_split,gpu.nnz_split,gpu.row_bins,gpu.auto,gpu.vendor_cusparse \
  --against gpu.vendor_cusparse || failures+=(table)

step summary
if ((${#failures[@]})); then
  echo "FAILED: ${failures[*]}"
  exit 1
fi
echo "All GPU checks passed."
