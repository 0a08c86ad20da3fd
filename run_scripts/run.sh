#!/usr/bin/env bash
# Measures prepared data sets, in natural order and in every order that prepare.sh made, and writes one bundle per
# data set. Recorded cases are not measured again; SIGTERM keeps the finished ones. A matrix that cannot be
# measured does not stop the others.
#
# A case is measured until its median is known to 5 %, but for at most 5 s (--max-seconds after --); --repeat or
# --median-within there replaces this rule. Of all runs with one cache, only one measures on a node at a time.
#
# Usage: run.sh --cache DIR --results DIR [options] DATASET... [-- OPTIONS OF csr-bench]
#   --cache DIR     where prepare.sh put the matrices
#   --results DIR   where <dataset>.jsonl goes
#   --gpu           measure gpu.auto against gpu.vendor_cusparse, not CPU kernels
#   --kernels LIST  measure these kernels
#   -k LIST         dense columns (default: 32,256)
#   --probe         first measure the machine once, for the roofline (csr-probe)
#   --tools DIR     where the tools are (default: the PATH, or a build folder)
set -euo pipefail
# shellcheck source=run_scripts/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck disable=SC2034 # options are set and read by name
cache='' results='' gpu=no kernels='' dense_cols='' tools='' probe=no names=()
while (($#)); do
  case $1 in
    --cache | --results | --kernels | --tools)
      needs_value "$@"
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    -k) needs_value "$@"; dense_cols=$2; shift 2 ;;
    --gpu | --probe) printf -v "${1#--}" %s yes; shift ;;
    --) shift; break ;;
    -*) unknown "$1" ;;
    *) names+=("$1"); shift ;;
  esac
done
[[ -n $cache && -n $results && ${#names[@]} -gt 0 ]] ||
  die 2 "needs --cache DIR, --results DIR and a data set; --help shows the options"
[[ -d $cache ]] || die 3 "there is no folder $cache; prepare.sh --cache makes it, with the data sets to measure"
find_tools
mkdir -p "$results/jobs" || die 4 "--results needs a folder that can be made and written"
lock_node --exclusive
set_threads
if [[ $gpu == yes ]]; then
  export CSRKIT_REQUIRE_GPU=1
  if [[ -n ${SLURM_JOB_ID:-} && -z ${CUDA_VISIBLE_DEVICES:-} ]]; then
    say "warning: Slurm gave this job no GPU (CUDA_VISIBLE_DEVICES is empty); ask for one with --gres=gpu:1"
  fi
fi
kernels=$(kernels_of "$gpu" "$kernels")
columns=(-k "${dense_cols:-32,256}")
# csr-bench warns of columns that no kernel takes. Nobody asked for these.
if [[ -z $dense_cols && ,$kernels =~ ^(,[cg]pu\.(spmv|spgemm)\.[^,]+)+$ ]]; then columns=(); fi
say "host $(uname -n), $OMP_NUM_THREADS threads, GPUs '${CUDA_VISIBLE_DEVICES-all}', memory $(memory_limit_text)"

profile=$results/jobs/$(uname -n).probe.json
if [[ $probe == yes && ! -f $profile ]]; then
  csr-probe --output "$profile" --seconds 3 --max-table 64M -k 32 --quiet || say "warning: no machine profile, so no roofline"
fi
set_precision "$@"

# Passes the signal on and waits for csr-bench, which has every finished case on disk.
child=0 was_ended=no worst=0
trap 'was_ended=yes; ((child == 0)) || kill -TERM "$child" 2>/dev/null || true' TERM INT USR1

measure() { # measure NAME MATRIX OPTIONS...: sets `code`
  local name=$1 matrix=$2 stem said log copying
  shift 2
  stem=$(basename "$matrix" .csr)
  said=$(mktemp)
  exec {log}> >(tee "$said" >&2)
  copying=$!
  csr-bench "$matrix" --kernels "$kernels" "${columns[@]}" --records "$results/$name.jsonl" --resume "${precision[@]}" \
    "$@" 2>&"$log" &
  child=$!
  exec {log}>&-
  while true; do # a trap ends wait early; the child's own code counts
    code=0
    wait "$child" || code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=0
  wait "$copying" || true # else the end of what csr-bench said may be missing below
  # The records name kernels that failed. Worse failures are noted here.
  if ((code <= 1)); then
    rm -f "$results/jobs/$stem.problem"
  elif [[ $was_ended == no ]]; then
    local order=${stem#"$name"} reason
    order=${order#.}
    reason=$(sed -n 's/^csr-bench: error: //p' "$said" | tail -n 1)
    note_problem "$results/jobs/$stem.problem" "$name" "${order:-natural}" "csr-bench: ${reason:-it ended with code $code}" ''
  fi
  rm -f "$said"
}

mapfile -t names < <(expand_datasets "${names[@]}")
for word in "${names[@]}"; do
  name=$(dataset_name "$word")
  if [[ ! -f $cache/$name.csr ]]; then
    say "error: $cache/$name.csr does not exist; prepare.sh --cache $cache $word makes it"
    worst=3
    continue
  fi
  matrices=("$cache/$name.csr")
  for file in "$cache/$name".*.csr; do if [[ -f $file && -f $file.made ]]; then matrices+=("$file"); fi; done
  for matrix in "${matrices[@]}"; do
    measure "$name" "$matrix" "$@"
    if [[ $was_ended == yes ]]; then
      say "ended by a signal; $results/$name.jsonl has the finished cases; run the same command again to do the rest"
      exit 143
    fi
    # A wrong command or machine would fail for every other matrix, too.
    if ((code == 2 || code == 4 || code == 6)); then exit "$code"; fi
    if ((code > worst)); then worst=$code; fi
  done
done
exit "$worst"
