#!/usr/bin/env bash
# The batch script of submit.sh: one task of an array, or the report.
#
# Usage: job.sh prepare|run|report SETTINGS_FILE   (SLURM_ARRAY_TASK_ID says which data set)
# shellcheck disable=SC2154 # what is not assigned here comes from the settings
set -euo pipefail
case ${1:-} in
  prepare | run | report) step=$1 ;;
  -h | --help) sed -n '2,/^#$/{s/^# //p}; s/^# Usage/Usage/p' "$0"; exit ;;
  *) echo "job.sh: error: unknown step '${1:-}'; there are prepare, run, report" >&2; exit 2 ;;
esac
settings=${2:-}
[[ -f $settings ]] || {
  echo "job.sh: error: there is no file of settings '$settings'; submit.sh writes one into the folder jobs of the results" >&2
  exit 2
}
bench=()
# shellcheck source=/dev/null
. "$settings"
name=${names[${SLURM_ARRAY_TASK_ID:-0}]}
echo "== $step ${SLURM_ARRAY_TASK_ID:+$name, }job ${SLURM_JOB_ID:-none}, restart ${SLURM_RESTART_COUNT:-0}, $(date -u +%FT%TZ)"

# Now that the matrices exist, csr-forecast knows what measuring them takes. --warn adds its minutes.
ask_for_run() {
  local file
  [[ -n ${SLURM_ARRAY_TASK_ID:-} ]] || return 0
  # shellcheck source=run_scripts/common.sh
  . "$scripts/common.sh"
  for file in "$cache/$(dataset_name "$name")".csr "$cache/$(dataset_name "$name")".*.csr; do
    if [[ -f $file.made ]]; then add_forecast "$file" --tool csr-bench "${forecast[@]}"; fi
  done
  ask_slurm "${run_job}_$SLURM_ARRAY_TASK_ID" $((warn / 60 + 1))
}

case $step in
  prepare)
    "$scripts/prepare.sh" "${prepare[@]}" "$name"
    ask_for_run
    exit
    ;;
  report) exec "$scripts/report.sh" --cache "$cache" --results "$results" "${report[@]}" ;;
  run) ;;
esac

# Near the time limit: ends in order and queues again; the next turn resumes.
out_of_time=no child=0
trap 'out_of_time=yes; ((child == 0)) || kill -TERM "$child" 2>/dev/null || true' USR1
trap '((child == 0)) || kill -TERM "$child" 2>/dev/null || true' TERM INT
"$scripts/run.sh" "${run[@]}" "$name" -- "${bench[@]}" &
child=$!
while true; do
  code=0
  wait "$child" || code=$?
  kill -0 "$child" 2>/dev/null || break
done
if [[ $out_of_time == yes && $code -eq 143 && -n ${SLURM_JOB_ID:-} ]]; then
  echo "job.sh: out of time; queued again" >&2
  scontrol requeue "${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}" || scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
