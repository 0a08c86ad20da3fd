# shellcheck shell=bash
# What prepare.sh, run.sh, report.sh and submit.sh share; sourced, never run.

# What the tools and their progress would write for a terminal has no place in a job's log.
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

# A name of a set stands for its members.
expand_datasets() {
  local name
  for name in "$@"; do
    case $name in
      shipped | mission) catalog_names "$name" ;;
      *) echo "$name" ;;
    esac
  done
}

# Threads from Slurm's promise or the affinity mask, and a warning where the two disagree: since
# Slurm 22.05 srun does not take over --cpus-per-task, and a pinned shell halves a run in silence.
set_threads() {
  local usable promised=${SLURM_CPUS_PER_TASK:-}
  usable=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  if [[ -n $promised ]]; then
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

# What the control group leaves, as the tools will see it; for the log.
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
