#!/usr/bin/env bash
# SpMV on a CPU: every format and the vendors of this build, kernels taking turns, on a set of matrices.
#
# Usage: spmv_cpu.sh --matrices DIR [--out DIR] [--tools DIR] [--threads LIST] [--value-kind LIST] [--repeat N]
#                    [--max-seconds S]
#   --matrices    folder of .csr files, e.g. made by csr-generate or imported
#   --out         records, one file for each number of threads (default: build/spmv-cpu); what is recorded is not
#                 repeated
#   --tools       where csr-bench is (default: build/cpu-only/tools)
#   --threads     numbers of threads (default: what OMP_NUM_THREADS or the system says)
#   --value-kind  as csr-bench's (default: f64,f32)
#   --repeat      the fewest products of a case (default: 20): it goes on until its median is known to 2 %
#   --max-seconds but for no longer than this (default: 2)
# Pin threads, one a core: OMP_PROC_BIND=close OMP_PLACES=cores spmv_cpu.sh ...
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/../messages.sh"

matrices='' out=build/spmv-cpu tools=build/cpu-only/tools threads=${OMP_NUM_THREADS:-$(nproc)} kinds=f64,f32 repeat=20
max_seconds=2
while (($#)); do
  case $1 in
    --matrices) needs_value "$@"; matrices=$2; shift 2 ;;
    --out) needs_value "$@"; out=$2; shift 2 ;;
    --tools) needs_value "$@"; tools=$2; shift 2 ;;
    --threads) needs_value "$@"; threads=$2; shift 2 ;;
    --value-kind) needs_value "$@"; kinds=$2; shift 2 ;;
    --repeat) needs_value "$@"; repeat=$2; shift 2 ;;
    --max-seconds) needs_value "$@"; max_seconds=$2; shift 2 ;;
    *) unknown "$1" ;;
  esac
done
if [[ -z $matrices ]]; then
  die 2 "needs --matrices DIR; --help shows the options"
fi
mapfile -t files < <(find -L "$matrices" -maxdepth 1 -name '*.csr' -printf '%s\t%p\n' | sort -n | cut -f2)
if ((${#files[@]} == 0)); then
  die 2 "no .csr file in $matrices; make some with csr-import or csr-generate"
fi
mkdir -p "$out"
kernels=cpu.spmv.auto,cpu.spmv.csr_balanced,cpu.spmv.csr_chunks,cpu.spmv.csr_lanes,cpu.spmv.sell,cpu.spmv.compressed,cpu.spmv.bsr,cpu.spmv.hyb,cpu.spmv.csr_rows
for vendor in vendor_mkl vendor_eigen vendor_graphblas; do
  if "$tools/csr-spmv-cpu" --list | grep -q "cpu\.spmv\.$vendor "; then kernels+=,cpu.spmv.$vendor; fi
done
for count in ${threads//,/ }; do
  echo "== $count threads"
  OMP_NUM_THREADS=$count "$tools/csr-bench" "${files[@]}" --kernels "$kernels" --value-kind "$kinds" --warm --cold \
    --repeat "$repeat" --median-within 2 --max-seconds "$max_seconds" --records "$out/threads_$count.jsonl" --resume
done
