#!/usr/bin/env bash
# Measures prepared data sets, in natural order and in every order there is, and leaves one bundle per
# data set. What is recorded is not measured again; SIGTERM keeps what is finished.
#
# Usage: run.sh --cache DIR --results DIR [options] DATASET... [-- OPTIONS OF csr-bench]
#   --cache DIR     where prepare.sh put the matrices
#   --results DIR   where <dataset>.jsonl goes
#   --gpu           gpu.auto against gpu.vendor_cusparse, instead of CPU kernels
#   --kernels LIST  these kernels instead
#   -k LIST         dense columns (default: 32,256)
#   --tools DIR     where the tools are (default: the PATH, or a build folder)
set -euo pipefail
# shellcheck source=run_scripts/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck disable=SC2034 # options are set and read by name
cache='' results='' gpu=no kernels='' dense_cols=32,256 tools='' names=()
while (($#)); do
  case $1 in
    --cache | --results | --kernels | --tools)
      needs_value "$@"
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    -k) needs_value "$@"; dense_cols=$2; shift 2 ;;
    --gpu) gpu=yes; shift ;;
    --) shift; break ;;
    -*) unknown "$1" ;;
    *) names+=("$1"); shift ;;
  esac
done
[[ -n $cache && -n $results && ${#names[@]} -gt 0 ]] ||
  die 2 "needs --cache DIR, --results DIR and a data set; --help shows the options"
find_tools
mkdir -p "$results"
set_threads
if [[ $gpu == yes ]]; then
  export CSRKIT_REQUIRE_GPU=1
  kernels=${kernels:-gpu.auto,gpu.vendor_cusparse}
  if [[ -n ${SLURM_JOB_ID:-} && -z ${CUDA_VISIBLE_DEVICES:-} ]]; then
    say "warning: Slurm gave this job no GPU (CUDA_VISIBLE_DEVICES is empty); ask for one with --gres=gpu:1"
  fi
fi
kernels=${kernels:-cpu.auto,cpu.row_loop}
say "host $(uname -n), $OMP_NUM_THREADS threads, GPUs '${CUDA_VISIBLE_DEVICES-all}', memory $(memory_limit_text)"

# The child gets the signal, this script waits for it: what csr-bench has finished is on disk.
child=0 was_ended=no
trap 'was_ended=yes; ((child == 0)) || kill -TERM "$child" 2>/dev/null || true' TERM INT USR1
worst=0
mapfile -t names < <(expand_datasets "${names[@]}")
for name in "${names[@]}"; do
  [[ -f $cache/$name.csr ]] || die 3 "$cache/$name.csr: not there; prepare.sh --cache $cache $name makes it"
  matrices=("$cache/$name.csr")
  for file in "$cache/$name".*.csr; do if [[ -f $file && -f $file.made ]]; then matrices+=("$file"); fi; done
  code=0
  csr-bench "${matrices[@]}" --kernels "$kernels" -k "$dense_cols" --records "$results/$name.jsonl" --resume "$@" &
  child=$!
  while true; do # a trap ends wait early; the child's own code counts
    code=0
    wait "$child" || code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=0
  if [[ $was_ended == yes ]]; then
    say "ended by a signal; what is finished is in $results/$name.jsonl, the same command does the rest"
    exit 143
  fi
  # A kernel that fails is in the records; the other data sets go on.
  if ((code == 1)); then worst=1; elif ((code != 0)); then exit "$code"; fi
done
exit $worst
