# shellcheck shell=bash
# A GPU that fails: memory that ends is exit code 5, a broken context is 7, each with a sentence and without an output,
# wherever it shows; a single allocation that fails is tried again. csr-bench records the case as failed, and goes on:
# exit code 1.
needs_cuda
csr-generate rmat graph.csr --set scale=8 --quiet
csr-generate poisson grid.csr --set nx=12 --set ny=12 --value-kind f64 --quiet
csr-partition graph.csr parts.csr --parts 2 --method blocks --quiet
needs_gpu csr-spmm-gpu graph.csr -k 2 --repeat 1
library=$(dirname "$(command -v csr-spmm-gpu)")/../../libcsrkit_failing_device.so
[ -f "$library" ] || fail "$library was not built"

# faulty FAULT COMMAND...: sets `code`; whatever it is, there is a whole output and 0, or none and a sentence.
faulty() {
  local fault=$1
  shift
  code=0
  rm -f made*
  # The tool alone is preloaded: what starts it would write its own log over the tool's.
  timeout 100 env LD_PRELOAD="$library" CSRKIT_DEVICE_FAULT="$fault" CSRKIT_DEVICE_FAULT_LOG="$PWD/totals" "$@" >out 2>err || code=$?
  if [ "$code" -eq 0 ]; then return; fi
  says ": "
  case "$*" in
    csr-bench*) grep -q '"status":"failed","reason":"[^"]' made.jsonl || { cat made.jsonl >&2; fail "$fault: no reason: $*"; } ;;
    *) no_file made ;;
  esac
}

# spread TOTAL: a few numbers from 1 to TOTAL, the first and the last among them.
spread() {
  python3 -c '
import sys
total, steps = int(sys.argv[1]), int(sys.argv[2])
print(*sorted({max(1, round(total * i / steps)) for i in range(steps + 1)} if total else ()))' "$1" "$steps"
}

seen_memory=0 seen_device=0 seen_exhausted=0 steps=4
sweep() { # sweep COMMAND...
  local total_allocations total_calls number allowed
  faulty "" "$@"
  equals "$code" 0
  read -r total_allocations total_calls <totals
  if [ "$total_allocations" -eq 0 ] || [ "$total_calls" -eq 0 ]; then fail "the GPU was not used: $*"; fi
  allowed=0
  case "$*" in csr-bench*) allowed=1 ;; esac
  for number in $(spread "$total_allocations"); do
    faulty "allocate $number" "$@"
    case $code in
      0 | "$allowed") ;; # it made do with less
      5) seen_memory=$((seen_memory + 1)) ;;
      *) cat err >&2; fail "exit code $code, allocation $number of $total_allocations: $*" ;;
    esac
  done
  for number in $(spread "$total_allocations"); do
    faulty "exhaust $number" "$@"
    case $code in
      5) seen_exhausted=$((seen_exhausted + 1)) ;;
      "$allowed") if [ "$allowed" -eq 0 ]; then fail "done without allocations from $number of $total_allocations on: $*"; fi ;;
      *) cat err >&2; fail "exit code $code, no allocation from $number of $total_allocations on: $*" ;;
    esac
  done
  for number in $(spread "$total_calls"); do
    faulty "call $number" "$@"
    case $code in
      7) seen_device=$((seen_device + 1)) ;;
      "$allowed") # all is done when a tool only cleans up
        if [ "$allowed" -eq 0 ] && [ "$number" -le $((total_calls / 2)) ]; then fail "call $number of $total_calls changes nothing: $*"; fi ;;
      *) cat err >&2; fail "exit code $code, call $number of $total_calls: $*" ;;
    esac
  done
  echo "$1: $total_allocations allocations, $total_calls calls; so far $seen_memory and $seen_exhausted times 5, $seen_device times 7"
}
sweep csr-spmm-gpu graph.csr -k 8 --repeat 1 --warmup 0 --check --output made.npy
sweep csr-spmv-gpu graph.csr --repeat 1 --warmup 0 --check --output made.npy
sweep csr-spgemm-gpu graph.csr --repeat 1 --warmup 0 --check --output made.csr
sweep csr-sddmm-gpu graph.csr -k 8 --repeat 1 --warmup 0 --check --output made.csr
sweep csr-solve-gpu grid.csr --output made.npy
sweep csr-density graph.csr --device gpu --spy made.png
sweep csr-spmm-dist parts.csr --device gpu --share-gpus --ranks 2 -k 8 --repeat 1 --check --output made.npy
sweep csr-spgemm-dist parts.csr --device gpu --share-gpus --ranks 2 --repeat 1 --check --output made.csr
sweep csr-bench graph.csr -k 8 --kernels gpu.auto --repeat 1 --warmup 0 --records made.jsonl
steps=2 # takes long
sweep csr-probe --output made.json --device gpu --max-table 1M --seconds 1 --max-spread 100000 -k 16
if [ $seen_exhausted -eq 0 ] || [ $seen_device -eq 0 ]; then fail "nothing failed"; fi
