# shellcheck shell=bash
# Sourced by the tests under a real Slurm: starts it in a scratch folder, which becomes the current one, and
# ends it when the test ends. Exit code 77: Slurm is not installed.
#
#   . setup.sh ROOT BIN_FOLDER    with SLURM_LOCAL_CPUS, and SLURM_LOCAL_GPUS if there are to be any, set
root=$(realpath "$1") bin=$(realpath "$2")
PATH=$bin:$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed (Debian: slurm-wlm, munge)"; exit 77; }
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/csrkit-slurm.XXXXXX")
export SLURM_LOCAL_DIR=$scratch/s SLURM_LOCAL_NODES=2 OMP_WAIT_POLICY=passive
slurm=$root/tests/slurm/slurm-local
trap '"$slurm" stop >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT
fail() { echo "FAILED: $*" >&2; tail -n 30 "$scratch"/*/jobs/*.log >&2 || true; exit 1; }
"$slurm" start
eval "$("$slurm" env)"
# shellcheck disable=SC2034 # for those who source this
scripts=$root/run_scripts
cd "$scratch" || exit 1

gone() { # gone JOB...: waits until none is queued or running
  local i job
  for job in "$@"; do
    for ((i = 0; i < 2400; i++)); do
      [[ -z $(squeue -h -j "$job" 2>/dev/null) ]] && continue 2
      sleep 0.1
    done
    fail "job $job does not end: $(squeue -h -j "$job")"
  done
}

now() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }
# On a busy machine Open MPI 4.1 under Slurm's PMIx lets a rank of another node leave MPI_Init while some are still in it: the first
# message finds no receiver there, and whoever gets it calls a null pointer. No rank has said or written anything by then, so
# such a launch is made again, twice at most: a crash of ours would come again.
crashed_in_init() { # crashed_in_init ERR
  grep -q 'Failing at address: (nil)' "$1" && ! grep -q '^csr-' "$1"
}
launch() { # launch OUT ERR OPTION_OF_SRUN... COMMAND...: sets began
  local out=$1 err=$2 more=2 code
  shift 2
  while :; do
    code=0
    # shellcheck disable=SC2034 # for those who source this
    began=$(now)
    timeout 300 srun --mpi=pmix "$@" >"$out" 2>"$err" || code=$?
    if ((code == 0 || more == 0)) || ! crashed_in_init "$err"; then return $code; fi
    more=$((more - 1))
  done
}
ranks() { launch out err "$@"; } # ranks OPTION_OF_SRUN... COMMAND...: its output in ./out and ./err
