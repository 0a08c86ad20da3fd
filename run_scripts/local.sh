# shellcheck shell=bash
# submit.sh without Slurm: everything on this machine; sourced, never run.
# shellcheck disable=SC2154 # what is not assigned here comes from submit.sh

running=() worst=0 is_left=no
# Every step is a process group of its own, so that one signal ends all of it.
end_steps() { # end_steps CODE
  trap - TERM INT
  ((${#running[@]} == 0)) || kill -TERM "${running[@]}" 2>/dev/null || true
  wait
  exit "$1"
}

# start SECONDS COMMAND...: runs it in the background for at most SECONDS (0: no limit). $! is its process.
start() {
  timeout --signal=TERM --kill-after=30 "$@" &
  running+=($!)
}

finish() { # finish PID: waits, and sets `code` to the exit code and `worst` to the worst one so far
  code=0
  wait "$1" || code=$?
  if ((code == 124 || code == 143)); then is_left=yes; elif ((code > worst)); then worst=$code; fi
}

left() { # left PERCENT: prints this share of the remaining seconds, or 0 without --within
  if [[ -z $within ]]; then echo 0; return; fi
  local seconds=$(((within - SECONDS) * $1 / 100))
  echo $((seconds > 1 ? seconds : 1))
}

# The largest data set takes longest, so it begins first.
by_size() {
  local name
  for name in "$@"; do
    printf '%s\t%s\n' "$(if [[ $name == */* ]]; then du -s -B 4 "$name" | cut -f 1; else catalog_field "$name" nnz_raw; fi)" "$name"
  done | sort -rn | cut -f2
}

# prepare_here PERCENT OPTIONS...: prepares the data sets in `ready`; `made` becomes those that succeeded.
prepare_here() {
  local share=$1 name ordered pids=()
  shift
  mapfile -t ordered < <(by_size "${ready[@]}")
  for name in "${ordered[@]}"; do
    while (($(jobs -rp | wc -l) >= at_once)); do sleep 0.05; done
    # Several share the CPUs here: idle threads must not spin.
    start "$(left "$share")" env OMP_WAIT_POLICY=passive "$run_scripts/prepare.sh" "${prepare[@]}" "$@" "$name"
    pids+=($!)
  done
  for name in "${!ordered[@]}"; do
    finish "${pids[name]}"
    if ((code != 0)); then unset "ordered[name]"; fi
  done
  running=()
  made=("${ordered[@]}")
}

measure_here() { # measure_here PERCENT OPTIONS OF csr-bench...
  local share=$1 name
  shift
  for name in "${names[@]}"; do
    [[ -f $cache/$(dataset_name "$name").csr.made ]] || continue # it failed, and said so
    start "$(left "$share")" "$run_scripts/run.sh" "${run[@]}" "$name" -- "$@"
    finish $!
    running=()
    ((code <= 1 || code == 124 || code == 143)) || say "$name: measuring ended with code $code"
  done
}

run_here() { # run_here OPTIONS OF csr-bench...
  local ready=("${names[@]}") made=() code=0 cpus_here
  export PATH
  trap 'end_steps 143' TERM
  trap 'end_steps 130' INT
  cpus_here=$(nproc)
  at_once=${at_once:-$(((cpus_here + 3) / 4))}
  prepare_here 90
  say "matrices ready, $SECONDS s since the start"
  measure_here 90 "$@"
  say "natural order measured, $SECONDS s since the start"
  if ((${#in_order[@]})); then
    # Orders may take 60 % of the remaining time: the rest is for measuring what they made.
    ready=("${made[@]}")
    prepare_here 60 "${in_order[@]}"
    say "orders made, $SECONDS s since the start"
    measure_here 95 "$@"
  fi
  code=0
  # Makes the page unless time ran out before anything was measured. The page says what is missing.
  if [[ $is_left == no ]] || [[ -n $(find "$results" -maxdepth 1 -name '*.jsonl' -size +0) ]]; then
    "$run_scripts/report.sh" --cache "$cache" --results "$results" --print "${report[@]}" || code=$?
  fi
  say "done, $SECONDS s since the start"
  if ((code > worst)); then worst=$code; fi
  if ((worst <= 1)) && [[ $is_left == yes ]]; then
    say "out of time (--within $within); the same command does the rest"
    worst=143
  fi
  return "$worst"
}
