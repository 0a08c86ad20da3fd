#!/usr/bin/env bash
# One command for a whole table: prepare, run and report. With Slurm: an array over the data sets for
# each of the first two, element by element, then the report; without: the same scripts, one by one.
# Run again, the same command finishes what was interrupted and repeats nothing.
#
# Without Slurm the data sets are prepared several at a time, the largest first, and measured one after
# the other: in natural order first, so that the table is there before anything is reordered. The table
# is printed at the end.
#
# Usage: submit.sh --cache DIR --results DIR [options] [DATASET...] [-- OPTIONS OF csr-bench]
#   DATASET           names of datasets/catalog.tsv, its sets (shipped, mission, suitesparse) or paths, with a '/', of any
#                     files that csr-import reads (default: shipped)
#   --local           without Slurm, here and now (the default where there is no sbatch)
#   --gpu             measure GPU kernels, with one GPU per task under Slurm; refused at once if there is none
#   --shared          share nodes with other jobs while measuring (default: --exclusive); then only runs with this
#                     cache wait for each other
#   --like, --scale X, --raw DIR, --orders LIST, --order-time S, --max-nnz N   see prepare.sh
#   --kernels LIST, -k LIST, --probe                                            see run.sh
#   --no-pictures     see report.sh
#   --tools DIR       where the tools are (default: the PATH, or a build folder)
#   --cpus N          CPUs per task (default: 4)
#   --mem SIZE        memory per task, in Slurm's form (default: what csr-forecast says of each data set, or the
#                     partition's default for a file that is not imported yet)
#   --time MIN        time limit per task, in Slurm's form (default: what csr-forecast says of each data set, or 60)
#   --warn S          seconds before the limit at which a measuring task ends in order and queues again
#                     (default: 120); Slurm's signal may come up to a minute earlier
#   --partition NAME, --account NAME
#   --at-once N       most tasks of an array at once (default: no limit); with --local, most data sets prepared
#                     at once (default: one for every four CPUs)
#   --within S        with --local: end after S seconds, in order and with a report of what is done; exit code 143
#                     if anything is left, which the same command does when run again
set -euo pipefail
# shellcheck source=run_scripts/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck disable=SC2034 # options are set and read by name
cache='' results='' raw='' scale='' orders='' order_time='' max_nnz='' kernels='' dense_cols='' tools=''
cpus=4 mem='' time='' warn=120 partition='' account='' at_once='' within='' gpu=no like=no local=no shared=no probe=no names=()
words=("$@") report=()

cannot_write() { die 4 "cannot write $1; make room there, or name another folder with --results"; }

# Notes what was asked for, so that the page can name what is missing: one line per command, none twice.
keep_plan() {
  local lists plan=$results/jobs/plan.jsonl stems
  mapfile -t stems < <(for name in "${names[@]}"; do dataset_name "$name"; done)
  # shellcheck disable=SC2086 # lists are split on purpose
  lists=$(printf '"datasets":%s,"orders":%s,"kernels":%s,"dense_cols":[%s]' "$(json_texts "${stems[@]}")" \
    "$(json_texts natural ${orders//,/ })" "$(json_texts ${kernels//,/ })" "${dense_cols:-32,256}")
  if [[ ! -f $plan ]] || ! grep -qF -- "$lists" "$plan"; then
    # Paths may be relative, and the page is read anywhere.
    printf '{"plan":1,"command":%s,%s}\n' \
      "$(json_text "cd $(printf %q "$PWD") &&$(printf ' %q' "$script_file" "${words[@]}")")" "$lists" >>"$plan" ||
      cannot_write "$plan"
  fi
}

# Refuses GPU kernels where no job with a GPU could run.
check_gpu() {
  local scratch code=0
  csr-bench --version | grep -q 'CUDA: [0-9]' ||
    die 6 "the tools in $(dirname "$(command -v csr-bench)") are built without CUDA; --tools names others, or leave --gpu out"
  if [[ $local == no ]]; then
    sinfo -h -o %G ${partition:+-p "$partition"} | grep -q gpu ||
      die 6 "Slurm knows no node with a GPU${partition:+ in the partition $partition}; --partition names another one"
    return
  fi
  scratch=$(mktemp -d)
  printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n' >"$scratch/one.mtx"
  { csr-import "$scratch/one.mtx" "$scratch/one.csr" --quiet &&
    csr-bench "$scratch/one.csr" --kernels gpu.auto -k 1 --repeat 1 --quiet; } 2>"$scratch/said" || code=$?
  ((code != 6)) || { cat "$scratch/said" >&2; rm -r "$scratch"; die 6 "no usable GPU here; leave --gpu out, or use --partition under Slurm"; }
  rm -r "$scratch"
}

# Refuses what is mistyped in the lists and behind --. csr-bench looks at its options before it opens a file, and there
# is none here. What else it ends with is for the machines that will run it.
check_words() { # check_words OPTIONS OF csr-bench...
  local order code=0 said
  set_precision "$@"
  said=$(csr-bench /dev/null/none.csr --kernels "$kernels" -k "${dense_cols:-32,256}" "${precision[@]}" "$@" 2>&1 >/dev/null) ||
    code=$?
  ((code != 2)) || die 2 "--kernels, -k or what follows --: $said"
  for order in ${orders//,/ }; do
    said=$(csr-forecast --tool csr-reorder --method "$order" --sizes 1,1,1 2>&1 >/dev/null) || die 2 "--orders: $said"
  done
}

while (($#)); do
  case $1 in
    --cache | --results | --raw | --scale | --orders | --order-time | --max-nnz | --kernels | --tools | --cpus | \
      --mem | --time | --warn | --partition | --account | --at-once | --within)
      needs_value "$@"
      option=${1#--}
      printf -v "${option//-/_}" %s "$2"
      shift 2
      ;;
    -k) needs_value "$@"; dense_cols=$2; shift 2 ;;
    --gpu | --like | --local | --shared | --probe) printf -v "${1#--}" %s yes; shift ;;
    --no-pictures) report=(--no-pictures); shift ;;
    --) shift; break ;;
    -*) unknown "$1" ;;
    *) names+=("$1"); shift ;;
  esac
done
[[ -n $cache && -n $results ]] || die 2 "needs --cache DIR and --results DIR; --help shows the options"
if ! command -v sbatch >/dev/null && [[ $local == no ]]; then
  say "sbatch is not installed: everything runs on this machine, one after the other"
  local=yes
fi
for number in "$within" "$at_once" "$warn"; do
  [[ -z $number || $number =~ ^[1-9][0-9]*$ ]] ||
    die 2 "--within, --at-once and --warn take whole numbers, not '$number'"
done
[[ -z $within || $local == yes ]] || die 2 "--within is for --local; under Slurm --time is the limit"
check_prepare_options
find_tools
mapfile -t names < <(expand_datasets "${names[@]:-shipped}")
check_datasets "${names[@]}"
kernels=$(kernels_of "$gpu" "$kernels")
check_words "$@"
if [[ ,$kernels == *,gpu.* ]]; then check_gpu; fi
# Slurm reads fields such as %j in the names of logs, and none at all where there is a backslash.
[[ $local == yes || $(realpath -m "$results") != *\\* ]] ||
  die 2 "the path of --results has a backslash, with which Slurm cannot name logs; name another folder"
mkdir -p "$cache" "$results/jobs" || die 4 "--cache and --results need folders that can be made and written"
cache=$(realpath "$cache") results=$(realpath "$results")
if [[ -n $raw ]]; then raw=$(realpath "$raw"); fi

prepare=(--cache "$cache")
for option in raw scale order-time max-nnz; do
  variable=${option//-/_}
  if [[ -n ${!variable} ]]; then prepare+=("--$option" "${!variable}"); fi
done
if [[ $like == yes ]]; then prepare+=(--like); fi
in_order=(${orders:+--orders "$orders"})
run=(--cache "$cache" --results "$results")
if [[ $gpu == yes ]]; then run+=(--gpu); fi
run+=(--kernels "$kernels")
if [[ $probe == yes ]]; then run+=(--probe); fi
if [[ -n $dense_cols ]]; then run+=(-k "$dense_cols"); fi

if [[ $local == yes ]]; then
  # shellcheck source=run_scripts/local.sh
  . "$run_scripts/local.sh"
  keep_plan
  run_here "$@"
  exit
fi

# sizes_of NAME|PATH: rows, columns and entries from the catalogue; empty for a file
sizes_of() {
  local size sizes=''
  [[ $1 != */* ]] || return 0
  for size in rows cols nnz_raw; do sizes+=,$(catalog_field "$1" "$size"); done
  echo "${sizes#,}"
}

# Sets asked_mem and asked_time to the needs of the task that imports one data set and makes its orders.
forecast_prepare() { # forecast_prepare NAME|PATH
  local sizes order
  sizes=$(sizes_of "$1")
  asked_mem=0 asked_time=0
  if [[ -z $sizes ]]; then
    asked_mem=unknown
    return
  fi
  add_forecast --tool csr-import --sizes "$sizes" --threads "$cpus"
  for order in ${orders//,/ }; do add_forecast --tool csr-reorder --method "$order" --sizes "$sizes" --threads "$cpus"; done
}

# The same for the report, which draws all data sets.
forecast_report() {
  local name sizes
  asked_mem=0 asked_time=0
  for name in "${names[@]}"; do
    sizes=$(sizes_of "$name")
    if [[ -z $sizes ]]; then
      asked_mem=unknown # a 0 would ask Slurm for all memory of the node, without a time limit
      return
    fi
    add_forecast --tool csr-report --sizes "$sizes"
  done
}

value_of() { # value_of NAME OPTIONS OF csr-bench...: what --NAME is given there, if it is
  local name=$1 word value=''
  shift
  for word in "$@"; do
    if [[ $value == '?' ]]; then value=$word; fi
    case $word in --"$name") value='?' ;; --"$name"=*) value=${word#*=} ;; esac
  done
  echo "$value"
}

# The options for csr-bench that change how much memory and time it takes. Of several kinds the widest counts.
of_bench=() kinds=,$(value_of value-kind "$@"),
for kind in none f16 bf16 f32 f64; do if [[ $kinds == *,$kind,* ]]; then of_bench=(--value-kind "$kind"); fi; done
seconds=$(value_of max-seconds "$@")
if [[ -n $seconds ]]; then of_bench+=(--max-seconds "$seconds"); fi
for flag in cold transpose; do if [[ " $* " == *" --$flag "* ]]; then of_bench+=("--$flag"); fi; done
# Jobs read their settings from this file: Slurm runs a copy of job.sh from another folder. It is for the jobs of this
# command alone: those of another one with the same results may still wait.
settings=$(mktemp "$results/jobs/settings.XXXXXX") || cannot_write "$results/jobs"
# Whatever ends this command before its jobs are released takes them out of the queue: nobody would release them.
prepare_job='' run_job='' report_job=''
give_up() {
  [[ -z $prepare_job ]] || scancel "$prepare_job" ${run_job:+"$run_job"} ${report_job:+"$report_job"} || true
  rm -f "$settings"
}
trap give_up EXIT
{
  printf 'names=(%s)\n' "$(printf '%q ' "${names[@]}")"
  printf 'prepare=(%s)\n' "$(printf '%q ' "${prepare[@]}" "${in_order[@]}")"
  printf 'run=(%s)\n' "$(printf '%q ' "${run[@]}")"
  printf 'report=(%s)\n' "${report[*]}"
  printf 'bench=(%s)\n' "$( (($# == 0)) || printf '%q ' "$@")"
  printf 'forecast=(%s)\n' "$(printf '%q ' --kernels "$kernels" -k "${dense_cols:-32,256}" --threads "$cpus" "${of_bench[@]}")"
  printf 'mem=%q time=%q warn=%q\n' "$mem" "$time" "$warn"
  printf 'cache=%q results=%q scripts=%q\n' "$cache" "$results" "$run_scripts"
  printf 'export PATH=%q CSRKIT_DATASETS=%q\n' "$PATH" "$(realpath "$datasets")"
} >"$settings" || cannot_write "$settings"

job=(--parsable --requeue --open-mode=append --cpus-per-task="$cpus" --nodes=1 --ntasks=1)
tasks=(--time="${time:-60}")
if [[ -n $mem ]]; then tasks+=(--mem="$mem"); fi
forecast_report
of_report=("${tasks[@]}")
if [[ $asked_mem != unknown ]]; then of_report=(--time="${time:-$asked_time}" --mem="${mem:-${asked_mem}M}"); fi
if [[ -n $partition ]]; then job+=(--partition="$partition"); fi
if [[ -n $account ]]; then job+=(--account="$account"); fi
queue() { # queue OPTIONS OF sbatch...
  sbatch "$@" || die 2 "Slurm refuses a job, as it says above; nothing stays queued"
}
gpus=() alone=(--exclusive)
if [[ $shared == yes ]]; then alone=(); fi
if [[ $gpu == yes ]]; then gpus=(--gres=gpu:1); fi
array=0-$((${#names[@]} - 1))${at_once:+%$at_once}
log=${results//%/%%}/jobs
# The jobs are held until each element has asked for what it needs. USR1 comes before the time limit, so that a task
# can end in order and queue again. The task that prepared a matrix forecasts what measuring it takes.
prepare_job=$(queue "${job[@]}" "${tasks[@]}" --hold --job-name=csrkit-prepare --array="$array" \
  --output="$log/prepare-%a.log" "$run_scripts/job.sh" prepare "$settings")
run_job=$(queue "${job[@]}" "${tasks[@]}" --job-name=csrkit-run --array="$array" --output="$log/run-%a.log" \
  --signal="B:USR1@$warn" --dependency="aftercorr:$prepare_job" --kill-on-invalid-dep=yes "${gpus[@]}" "${alone[@]}" \
  "$run_scripts/job.sh" run "$settings")
report_job=$(queue "${job[@]}" "${of_report[@]}" --job-name=csrkit-report \
  --output="$log/report.log" --dependency="afterany:$run_job" "$run_scripts/job.sh" report "$settings")
for i in "${!names[@]}"; do
  forecast_prepare "${names[i]}"
  ask_slurm "${prepare_job}_$i" 0
done
echo "run_job=$run_job" >>"$settings" || cannot_write "$settings"
keep_plan # of what Slurm has taken; no job reads it before the first is released
scontrol release "$prepare_job" || die 2 "Slurm does not release the first job, as it says above; nothing stays queued"
trap - EXIT
echo "prepare $prepare_job run $run_job report $report_job"
say "${#names[@]} data sets; logs in $results/jobs, the page will be $results/report.html"
