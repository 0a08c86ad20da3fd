#!/usr/bin/env bash
# Ours against cuSPARSE and the gather mark on two sets of matrices, warm and cold, and the tables of it.
#
# Usage: spmm_gpu_tables.sh --stand-ins DIR --real DIR [--out DIR] [--tools DIR] [--within S] [-k LIST]
#                           [--repeat N] [--value-kind LIST] [--ours KERNEL] [--vendor KERNEL] [--marks LIST]
#   --stand-ins   folder of .csr files, e.g. made by csr-generate --like NAME
#   --real        folder of .csr files, imported from real matrices; one of the two may be left out
#   --out         records and tables (default: build/spmm-gpu-tables); what is recorded is not repeated
#   --tools       where csr-bench is (default: build/gpu/tools)
#   --within      end after so many seconds, with the tables of what is measured by then: matrices in the
#                 order of their sizes, real ones first, the marks last; exit code 143 if something is left, which the same
#                 command does
# The rest are csr-bench's; --repeat are the fewest multiplications of a case (default: 5): it goes on until
# its median is known to 1 %, for at most 30 multiplications or 0.3 s. Without a GPU the kernels may be those
# of the CPU: a dry run.
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/../messages.sh"

stand_ins='' real='' out=build/spmm-gpu-tables tools=build/gpu/tools columns=32,64,128,256,512 repeat=5 within=''
ours=gpu.auto vendor=gpu.vendor_cusparse marks=gpu.gather_mark,gpu.gather_mark_sliced kinds=()
while (($#)); do
  case $1 in
    --stand-ins) needs_value "$@"; stand_ins=$2; shift 2 ;;
    --real) needs_value "$@"; real=$2; shift 2 ;;
    --out) needs_value "$@"; out=$2; shift 2 ;;
    --tools) needs_value "$@"; tools=$2; shift 2 ;;
    --within) needs_value "$@"; within=$2; shift 2 ;;
    -k) needs_value "$@"; columns=$2; shift 2 ;;
    --repeat) needs_value "$@"; repeat=$2; shift 2 ;;
    --value-kind) needs_value "$@"; kinds=(--value-kind "$2"); shift 2 ;;
    --ours) needs_value "$@"; ours=$2; shift 2 ;;
    --vendor) needs_value "$@"; vendor=$2; shift 2 ;;
    --marks) (($# >= 2)) || needs_value "$@"; marks=$2; shift 2 ;;
    *) unknown "$1" ;;
  esac
done
if [[ -z $stand_ins && -z $real ]]; then
  die 2 "needs --stand-ins DIR or --real DIR; --help shows the options"
fi
mkdir -p "$out"
here=$(dirname "$(realpath "$0")")
full_name() { [[ $1 == *.spmm.* ]] && echo "$1" || echo "${1/./.spmm.}"; }

sets=()
code=0
measure() { # measure LABEL DIR KERNELS
  local files=() limit=() status=0
  mapfile -t files < <(find -L "$2" -maxdepth 1 -name '*.csr' -printf '%s\t%p\n' | sort -n | cut -f2)
  if ((${#files[@]} == 0)); then
    die 2 "no .csr file in $2; make some with csr-import or csr-generate"
  fi
  touch "$out/$1.jsonl"
  if [[ -n $within ]]; then
    if ((SECONDS >= within)); then code=143; return; fi
    limit=(timeout --signal=TERM --kill-after=10 "$((within - SECONDS))")
  fi
  "${limit[@]}" "$tools/csr-bench" "${files[@]}" -k "$columns" --repeat "$repeat" --median-within 1 --max-repeat 30 \
    --max-seconds 0.3 --warm --cold --check --kernels "$3" --records "$out/$1.jsonl" --resume "${kinds[@]}" >>"$out/$1.txt" ||
    status=$?
  if ((status == 124 || status == 143)); then code=143; elif ((status != 0)); then code=$status; fi
}
# What is compared first, the marks with what time is left.
for kernels in "$ours,$vendor" ${marks:+"$marks"}; do
  if [[ -n $real ]]; then measure real "$real" "$kernels"; fi
  if [[ -n $stand_ins ]]; then measure stand-ins "$stand_ins" "$kernels"; fi
done
if [[ -n $real ]]; then sets+=("real=$out/real.jsonl"); fi
if [[ -n $stand_ins ]]; then sets+=("stand-ins=$out/stand-ins.jsonl"); fi

if ((code == 143)) && ! grep -q . "${sets[@]#*=}"; then
  die 143 "nothing could be measured in $within s; give it more with --within"
fi
full_marks=''
for mark in ${marks//,/ }; do full_marks+=${full_marks:+,}$(full_name "$mark"); done
"$here/../pages/spmm_gpu_table.py" "${sets[@]}" --ours "$(full_name "$ours")" --vendor "$(full_name "$vendor")" \
  --marks "$full_marks" --json "$out/table.json" --markdown "$out/table.md" --force || { ((code != 0)) || code=1; }
cat "$out/table.md"
exit "$code"
