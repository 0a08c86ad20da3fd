# shellcheck shell=bash
# The three steps of a Slurm job, without Slurm: what job.sh starts, from the settings of submit.sh.
job=$(realpath "$CLI_FOLDER/../../run_scripts/job.sh")
mkdir -p results/jobs bin
printf '#!/bin/sh\necho "$@" >>%s/asked\n' "$PWD" >bin/scontrol # Slurm's, which would update a job
chmod +x bin/scontrol
cat >settings <<END
names=(karate lp_afiro)
prepare=(--cache '$PWD/cache')
run=(--cache '$PWD/cache' --results '$PWD/results' -k 4)
report=(--no-pictures)
bench=(--repeat 2)
forecast=(--kernels cpu.auto -k 4) mem='' time='' warn=120 run_job=7
cache='$PWD/cache' results='$PWD/results' scripts='$(dirname "$job")'
export PATH='$PWD/bin:$PATH' CSRKIT_DATASETS='$DATASETS'
END
step() { SLURM_ARRAY_TASK_ID=$1 "$job" "$2" ./settings; }
expect 0 step 1 prepare
prints "== prepare lp_afiro, job none"
[ -f cache/lp_afiro.csr ] || fail "the second data set was not prepared"
no_file cache/karate
# Measuring gets what csr-forecast says of the matrix that was prepared, and the minutes of --warn.
grep -qx 'update JobId=7_1 MinMemoryNode=[1-9][0-9]* TimeLimit=5' asked || fail "nothing is asked for: $(cat asked)"
sed "s/mem='' time=''/mem=4G time=9/" -i settings
rm asked
expect 0 step 1 prepare
no_file asked # the user has said it all
expect 0 step 1 run
equals "$(wc -l <results/lp_afiro.jsonl | tr -d ' ')" 2
expect 0 "$job" report ./settings
grep -q '| lp_afiro |' results/table.md || fail "the report lacks the data set"
expect 3 step 0 run # not prepared
expect 2 "$job"
expect 2 "$job" prepare nowhere
expect 2 "$job" rest ./settings
