#!/usr/bin/env bash
# Many tasks at once, GPUs, a time limit, under a real Slurm that this script starts and ends.
#
# Usage: batch.sh ROOT BIN_FOLDER    (exit code 77: Slurm is not installed)
set -euo pipefail
# More CPUs than there are: 64 tasks begin in the same moment. GPUs are stand-ins.
export SLURM_LOCAL_CPUS=32 SLURM_LOCAL_GPUS=2
# shellcheck source=tests/slurm/setup.sh
. "$(dirname "$0")/setup.sh" "$1" "$2"
mkdir logs

# prepares COUNT OPTIONS...: so many tasks of one array prepare the same data set in the same cache.
prepares() {
  local count=$1 job made complete
  shift
  job=$(sbatch --parsable --array="0-$((count - 1))" --ntasks=1 --cpus-per-task=1 --output="logs/$count-%a" --wrap \
    "'$scripts/prepare.sh' --cache cache$count $*; echo exit \$?")
  gone "$job"
  [[ $(grep -lx 'exit 0' logs/"$count"-* | wc -l) == "$count" ]] || fail "of $count prepares some failed"
  made=$(grep -l ': made in' logs/"$count"-* | wc -l) complete=$(grep -l ': complete$' logs/"$count"-* | wc -l)
  [[ $made == 1 && $complete -ge $((count - 1)) ]] || fail "$count prepares: $made made it, $complete found it complete"
  [[ -z $(find "cache$count" -name '*tmp*') ]] || fail "temporary files are left: $(ls "cache$count")"
  for file in "cache$count"/*.csr; do csr-info "$file" --verify --quiet || fail "$file is damaged"; done
  echo "$count prepares at once: one made it, $complete found it complete, all ended with 0"
}
prepares 16 --orders degree,rcm cora
prepares 64 --like --scale 0.1 com_amazon

cases() { # cases FILE...: how many, and that each is done and there once
  python3 - "$@" <<'PYTHON'
import collections, json, sys
count = collections.Counter()
for path in sys.argv[1:]:
    for line in open(path):
        record = json.loads(line)
        assert record["status"] == "done", record
        count[path, json.dumps(record["case"])] += 1
assert max(count.values()) == 1, "a finished case was measured again"
print(len(count))
PYTHON
}

# One GPU per task, of two a node; CPU kernels, for these GPUs compute nothing.
jobs=$("$scripts/submit.sh" --cache cache --results gpus --gpu --shared --kernels cpu.auto,cpu.row_loop --cpus 1 --time 5 -k 8 \
  --no-pictures karate cora bcsstk18 lp_afiro -- --repeat 3)
read -r _ prepare _ run _ report <<<"$jobs"
gone "$prepare" "$run" "$report"
[[ $(cases gpus/*.jsonl) == 8 ]] || fail "GPU jobs: not 8 cases"
if [[ -n $(srun -n1 --gres=gpu:1 printenv CUDA_VISIBLE_DEVICES || true) ]]; then
  stand_in=yes
else
  stand_in=no # without root, or a terminal's device file, there is none that Slurm takes for a GPU
  echo "skipped: this machine lets nobody make stand-in GPUs"
fi
given=$(sed -n "s/.*GPUs '\([^']*\)'.*/\1/p" gpus/jobs/run-*.log | sort -u | tr '\n' ' ')
if [[ $stand_in == yes ]]; then
  [[ $given == '0 1 ' || $given == '0 ' ]] || fail "tasks saw the GPUs '$given', not one of two"
  if grep -q 'gave this job no GPU' gpus/jobs/*.log; then fail "a task says that it has no GPU"; fi
  echo "GPU jobs: each task saw one GPU, of the numbers $given"
fi

# A minute is not enough: Slurm says so before it is over, the task ends in order and queues again.
jobs=$("$scripts/submit.sh" --cache cache --results limit --cpus 2 --time 1 --warn 50 -k 8,16,24,32 --no-pictures \
  --kernels cpu.naive,cpu.row_loop pubmed -- --median-within 0.0001 --max-repeat 1000000 --max-seconds 4)
read -r _ prepare _ run _ report <<<"$jobs"
gone "$prepare" "$run" "$report"
[[ $(cases limit/pubmed.jsonl) == 8 ]] || fail "time limit: not 8 cases"
turns=$(grep -c '^== run' limit/jobs/run-0.log)
((turns > 1)) || fail "the time limit was never near"
grep -q 'out of time; queued again' limit/jobs/run-0.log || fail "the log does not say why it was queued again"
grep -q '| pubmed |' limit/table.md || fail "the report came before the last turn"
echo "time limit: 8 cases in $turns turns, none of them twice"
echo "Slurm: everything as it should be"
