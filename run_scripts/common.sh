# shellcheck shell=bash
# What prepare.sh, run.sh, report.sh and submit.sh share; sourced, never run.

# Keeps colours and progress lines out of the logs of jobs.
export TERM=dumb NO_COLOR=1 LC_ALL=C

run_scripts=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source=run_scripts/messages.sh
. "$run_scripts/messages.sh"
datasets=${CSRKIT_DATASETS:-$run_scripts/../datasets}
[[ -f $datasets/catalog.tsv ]] || datasets=$run_scripts/../../../share/csrkit/datasets

find_tools() { # the folder given, the PATH, or a build beside the scripts
  local place
  if [[ -n ${tools:-} ]]; then
    [[ -x $tools/csr-bench ]] || die 2 "--tools $tools holds no csr-bench"
    PATH=$(realpath "$tools"):$PATH
  elif ! command -v csr-bench >/dev/null; then
    for place in "$run_scripts"/../build/{gpu,release,cpu-only}/tools; do
      if [[ -x $place/csr-bench ]]; then
        PATH=$(realpath "$place"):$(realpath "$run_scripts/../tools"):$PATH
        return
      fi
    done
    die 2 "csr-bench is neither on the PATH nor in a build folder; name its folder with --tools"
  fi
  if ! command -v csr-report >/dev/null; then PATH=$PATH:$(realpath "$run_scripts/../tools"); fi
}

catalog_field() { # catalog_field NAME COLUMN: "-" and a missing name are ""
  awk -F'\t' -v name="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
    $1 == name { if ($at != "-") print $at; exit }' "$datasets/catalog.tsv"
}

catalog_names() { # catalog_names SET
  awk -F'\t' -v set="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "set") at = i; next }
    $at == set { print $1 }' "$datasets/catalog.tsv"
}

# Replaces the name of a set by its members, and a path by the absolute one: a job may start in another folder. What does
# not exist keeps its name (-m), for check_datasets to refuse.
expand_datasets() {
  local word members
  for word in "$@"; do
    members=$(catalog_names "$word")
    if [[ $word == */* ]]; then
      realpath -m "$word"
    else
      echo "${members:-$word}"
    fi
  done
}

# A file is known by its name up to the first dot: what follows names orders.
dataset_name() { # dataset_name NAME|PATH
  local name=${1##*/}
  if [[ $1 == */* ]]; then name=${name%%.*}; fi
  echo "$name"
}

like_name() { # like_name WORD: the name in the catalogue that it may be meant for, as a question
  cut -f1 "$datasets/catalog.tsv" | python3 -c '
import difflib, sys
names = sys.stdin.read().split()[1:]
near = difflib.get_close_matches(sys.argv[1].lower(), [name.lower() for name in names], 1)
print("".join(f" (did you mean {name}?)" for name in names if [name.lower()] == near), end="")' "$1"
}

# Refuses unknown names, missing files and two data sets of one name, before anything is queued or made.
check_datasets() { # check_datasets NAME|PATH...
  local word seen=' '
  for word in "$@"; do
    if [[ $word == */* ]]; then
      [[ -e $word ]] || die 3 "$word does not exist"
      # Tools would take -x.csr for options, and no pattern finds the files of a data set without a name.
      [[ $(dataset_name "$word") == [!-]* ]] ||
        die 2 "$word is known by its name up to the first dot, which must not be empty or begin with '-'; rename it"
    else
      [[ -n $(catalog_field "$word" rows) ]] ||
        die 2 "there is no data set '$word'$(like_name "$word"); $datasets/catalog.tsv lists all of them; to name a file, give its path with a '/'"
    fi
    [[ $seen != *" $(dataset_name "$word") "* ]] || die 2 "two data sets are named $(dataset_name "$word")"
    seen+="$(dataset_name "$word") "
  done
}

# Refuses what prepare.sh could not use, before anything is queued or made.
# shellcheck disable=SC2154 # these are options of those who source this
check_prepare_options() {
  [[ -z $scale || $like == yes ]] || die 2 "--scale is for --like"
  [[ -z $scale || $scale =~ ^[0-9]*[.]?[0-9]+(e-?[0-9]+)?$ ]] || die 2 "--scale is '$scale'; it must be a number"
  [[ -z $order_time || $order_time =~ ^[0-9]+([.][0-9]+)?$ ]] ||
    die 2 "--order-time is '$order_time'; it must be a number of seconds"
  [[ $max_nnz =~ ^(0|[1-9][0-9]{0,17})?$ ]] || die 2 "--max-nnz is '$max_nnz'; it must be a whole number"
}

kernels_of() { # kernels_of GPU LIST: the kernels to measure; GPU is yes or no
  if [[ -n $2 ]]; then echo "$2"; elif [[ $1 == yes ]]; then echo gpu.auto,gpu.vendor_cusparse; else echo cpu.auto,cpu.row_loop; fi
}

# Sets `precision`: until when run.sh has csr-bench measure a case, where its options do not say so themselves.
set_precision() { # set_precision OPTIONS OF csr-bench...
  local word most=(--max-seconds 5)
  precision=(--median-within 5)
  for word in "$@"; do
    case $word in
      --repeat* | --median-within*) precision=() most=() ;;
      --max-seconds*) most=() ;;
    esac
  done
  precision+=("${most[@]}")
}

json_text() { # json_text TEXT: as a JSON string
  local text
  text=$(tr -d '\000-\037\177' <<<"$1")
  text=${text//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

json_texts() { # json_texts TEXT...: as an array
  local list='' text
  for text in "$@"; do list+=,$(json_text "$text"); done
  printf '[%s]' "${list#,}"
}

# Records what a step left out, why, and the command that mends it: report.sh shows them.
note_problem() { # note_problem FILE DATASET ORDER REASON MEND
  printf '{"problem":1,"dataset":%s,"order":%s,"reason":%s,"mend":%s}\n' "$(json_text "$2")" "$(json_text "$3")" \
    "$(json_text "$4")" "$(json_text "$5")" >"$1.tmp.$$"
  mv "$1.tmp.$$" "$1"
}

# attempt COMMAND...: runs it in a process of its own. Sets `code` to its exit code and `reason` to the last error that
# it printed. Never call it in a condition: there, bash does not stop at errors.
attempt() {
  local said
  said=$(mktemp)
  code=0
  (
    set -e
    "$@"
  ) 2>"$said" &
  wait $! || code=$?
  cat "$said" >&2
  # shellcheck disable=SC2034 # callers read it
  reason=$(sed -n 's/^[a-z.-]*: error: //p' "$said" | tail -n 1)
  reason=${reason:-it ended with code $code}
  rm -f "$said"
}

# The needs of a task that runs several tools in turn: the largest memory (MB) and the sum of the minutes. After a
# forecast that failed the memory is "unknown", and nothing is asked for.
asked_mem=0 asked_time=0
add_forecast() { # add_forecast OPTIONS OF csr-forecast...
  local said mem
  if ! said=$(csr-forecast "$@"); then
    asked_mem=unknown
  elif [[ $asked_mem != unknown ]]; then
    mem=$(sed -n 's/^#SBATCH --mem=\([0-9]*\)M$/\1/p' <<<"$said")
    asked_mem=$((mem > asked_mem ? mem : asked_mem))
    asked_time=$((asked_time + $(sed -n 's/^#SBATCH --time=//p' <<<"$said")))
  fi
}

# Asks Slurm for the memory and the time that a waiting element of an array needs. What the user gave on the command
# line takes precedence.
# shellcheck disable=SC2154 # mem and time are options of those who source this
ask_slurm() { # ask_slurm JOB_ELEMENT MORE_MINUTES
  local wanted=()
  [[ $asked_mem != unknown ]] || return 0
  [[ -n $mem ]] || wanted+=("MinMemoryNode=$asked_mem")
  [[ -n $time ]] || wanted+=("TimeLimit=$((asked_time + $2))")
  ((${#wanted[@]} == 0)) || scontrol update "JobId=$1" "${wanted[@]}" ||
    say "warning: Slurm refuses $1 what csr-forecast asks for (${wanted[*]}); it keeps its present limits"
}

# One lock for each node, in the cache: several tasks may prepare at once, but a task that measures runs alone. On a
# file system without locks, only Slurm's --exclusive protects measurements.
# shellcheck disable=SC2154 # cache is an option of those who source this
lock_node() { # lock_node --shared|--exclusive
  { exec 8>"$cache/.node.${SLURMD_NODENAME:-$(uname -n)}.lock"; } 2>/dev/null ||
    die 4 "cannot write into the cache $cache, where locks are, too; name another folder with --cache, or make room there"
  flock "$1" 8 2>/dev/null || true
}

# Takes as many threads as Slurm promised and the affinity mask allows, and warns if these differ: since Slurm 22.05
# srun ignores the --cpus-per-task of its job, and a pinned shell silently halves the speed.
set_threads() {
  local usable promised=${SLURM_CPUS_PER_TASK:-}
  usable=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  if [[ $promised =~ ^[1-9][0-9]*$ ]]; then
    export SRUN_CPUS_PER_TASK=$promised
    if ((promised != usable)); then
      say "warning: SLURM_CPUS_PER_TASK is $promised, but this process may use $usable CPUs" \
        "(affinity mask); threads are set to the smaller; give srun -c or check --cpu-bind"
    fi
    export OMP_NUM_THREADS=$((promised < usable ? promised : usable))
  else
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$usable}
  fi
}

# The memory that the tools will see, for the log.
memory_limit_text() {
  local group limit
  group=$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null || true)
  limit=$(cat "/sys/fs/cgroup$group/memory.max" 2>/dev/null || echo max)
  if [[ $limit == max ]]; then
    awk '/^MemAvailable/ { printf "%d MiB available, no limit of a control group", $2 / 1024 }' /proc/meminfo
  else
    echo "$((limit >> 20)) MiB (limit of the control group)"
  fi
}
