# shellcheck shell=bash
# submit.sh without Slurm: everything on this machine; sourced, never run.
# shellcheck disable=SC2154 # what is not assigned here comes from submit.sh

running=() worst=0 is_left=no
# Every step is a group of processes of its own: who ends it ends all of it.
end_steps() { # end_steps CODE
  trap - TERM INT
  ((${#running[@]} == 0)) || kill -TERM "${running[@]}" 2>/dev/null || true
  wait
  exit "$1"
}

# start SECONDS COMMAND...: in the background, for at most so long (0: no limit); its number is in $!.
start() {
  timeout --signal=TERM --kill-after=30 "$@" &
  running+=($!)
}

finish() { # finish PID: its exit code into `code` and, where it is the worst, `worst`
  code=0
  wait "$1" || code=$?
  if ((code == 124 || code == 143)); then is_left=yes; elif ((code > worst)); then worst=$code; fi
}

left() { # left PERCENT: of the time that is left, in seconds; 0 without --within
  if [[ -z $within ]]; then echo 0; return; fi
  local seconds=$(((within - SECONDS) * $1 / 100))
  echo $((seconds > 1 ? seconds : 1))
}

# What is largest takes longest: it begins first.
by_size() {
  local name
  for name in "$@"; do
    printf '%s\t%s\n' "$(if [[ $name == */* ]]; then du -s -B 4 "$name" | cut -f 1; else catalog_field "$name" nnz_raw; fi)" "$name"
  done | sort -rn | cut -f2
}

# prepare_here PERCENT OPTIONS...: `ready` becomes the data sets for which it succeeded.
prepare_here() {
  local share=$1 name ordered pids=()
  shift
  mapfile -t ordered < <(by_size "${ready[@]}")
  for name in "${ordered[@]}"; do
    while (($(jobs -rp | wc -l) >= at_once)); do sleep 0.05; done
    # Several share the CPUs here: threads that have nothing to do must not spin.
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
    # Orders may take more than half of what is left; what they made is worth nothing unmeasured.
    ready=("${made[@]}")
    prepare_here 60 "${in_order[@]}"
    say "orders made, $SECONDS s since the start"
    measure_here 95 "$@"
  fi
  code=0
  # With time left or something measured there is a page, which says what is missing.
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
