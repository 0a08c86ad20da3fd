#!/usr/bin/env bash
# Submit, interrupt, resubmit, read the report, under a real Slurm that this script starts and ends.
#
# Usage: story.sh ROOT BIN_FOLDER    (exit code 77: Slurm is not installed)
set -euo pipefail
export SLURM_LOCAL_CPUS=2
# shellcheck source=tests/slurm/setup.sh
. "$(dirname "$0")/setup.sh" "$1" "$2"

first_record() { # first_record FILE: waits for it
  local i
  for ((i = 0; i < 3600; i++)); do [[ -s $1 ]] && return; sleep 0.05; done
  fail "$1 never came"
}
records() { python3 - "$@" <<'EOF'
import collections, json, sys
for path in sys.argv[1:]:
    count = collections.Counter()
    for line in open(path):
        record = json.loads(line)
        assert record["status"] == "done" and record["machine"]["slurm_job"], record
        count[json.dumps(record["case"])] += 1
    assert max(count.values()) == 1, f"{path}: a finished case was measured again"
    print(len(count))
EOF
}

# One command; arrays depend element by element. Two threads, though the shell may use all CPUs.
submit() { # submit DATASET... -- OPTIONS
  "$scripts/submit.sh" --cache cache --results results --cpus 2 --time 5 -k 8,16 --orders degree "$@"
}
jobs=$(submit karate cora bcsstk18 -- --repeat 3)
read -r _ prepare _ run _ report <<<"$jobs"
gone "$prepare" "$run" "$report"
for name in karate cora bcsstk18; do
  [[ $(records "results/$name.jsonl") == 8 ]] || fail "$name: not 8 cases"
done
grep -q '<h2 id="table">' results/report.html || fail "there is no page"
grep -q '| bcsstk18 | degree |' results/table.md || fail "the table lacks a data set"
if grep -lP '[\x00-\x08\x0b-\x1f\x7f]' results/jobs/*.log; then fail "control characters in a log"; fi

# What fails costs its own row only; a mistyped name is refused before anything is queued.
jobs=$("$scripts/submit.sh" --cache cache --results partly --cpus 2 --time 5 -k 8 --orders metis-partition,degree --no-pictures \
  lp_afiro karate -- --repeat 3)
read -r _ prepare _ run _ report <<<"$jobs"
gone "$prepare" "$run" "$report"
grep -q '^10 of 12 cases, 1 data set incomplete' partly/table.md || fail "the failed order is not counted: $(head -n 3 partly/table.md)"
grep -q '| lp_afiro | degree |' partly/table.md || fail "the failed order took another one with it"
[[ $(sacct -n -X -j "$report" -o ExitCode 2>/dev/null | tr -d ' ') =~ ^(1:0)?$ ]] || fail "the report's exit code hides the gap"
if "$scripts/submit.sh" --cache cache --results none karte 2>refused; then fail "a mistyped name was queued"; fi
grep -q "there is no data set 'karte'" refused || fail "the mistyped name is not named"
[[ ! -e none ]] || fail "a refused command left something behind"
echo "a failed order cost 2 of 12 cases; a mistyped name was refused"

# A file has no sizes from which a forecast could come: its report gets an hour, too, not all memory for ever.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n' >own.mtx
jobs=$("$scripts/submit.sh" --cache cache --results own --cpus 2 -k 8 --no-pictures ./own.mtx -- --repeat 3)
read -r _ prepare _ run _ report <<<"$jobs"
asked=$(scontrol show job "$report")
grep -q 'TimeLimit=01:00:00' <<<"$asked" || fail "the report of a file has another limit than an hour: $asked"
gone "$prepare" "$run" "$report"
grep -q '| own |' own/table.md || fail "the table lacks the file"
# Slurm refuses the second job: the first, which is held, leaves the queue with it.
code=0
"$scripts/submit.sh" --cache cache --results halfway --cpus 2 --warn 100000 -k 8 karate 2>refused || code=$?
((code == 2)) || fail "a refused job is exit code $code"
grep -q 'nothing stays queued' refused || fail "it does not say what happened: $(cat refused)"
[[ -z $(squeue -h) ]] || fail "jobs stayed: $(squeue)"

# Two commands with the same results, the second given while the first still waits: each does what it was told.
blocker=$(sbatch --parsable -N2 --exclusive --output=/dev/null --wrap 'sleep 600')
both() { "$scripts/submit.sh" --cache cache-both --results both --cpus 2 --time 5 -k 8 --no-pictures "$@" -- --repeat 3; }
jobs="$(both cora karate) $(both bcsstk18)"
scancel "$blocker"
read -r _ prepare _ run _ report _ prepare2 _ run2 _ report2 <<<"$jobs"
gone "$prepare" "$run" "$report" "$prepare2" "$run2" "$report2"
for name in cora karate bcsstk18; do
  [[ -f both/$name.jsonl && $(records "both/$name.jsonl") == 2 ]] || fail "$name: the other command's jobs took its place"
done
echo "two commands with the same results: each measured its own"

# A task that scancel ends and one whose csr-bench is killed; resubmitted, they finish.
again() {
  "$scripts/submit.sh" --cache cache2 --results results2 --cpus 2 --time 5 -k 8,16,24,32 \
    --kernels cpu.naive,cpu.row_loop pubmed bcsstk18 -- --repeat 400
}
jobs=$(again)
read -r _ prepare _ run _ report <<<"$jobs"
first_record results2/pubmed.jsonl
scancel "${run}_0"
first_record results2/bcsstk18.jsonl
victim=$(grep -lsz 'results2/bcsstk18.jsonl' /proc/[0-9]*/cmdline | while read -r file; do
  pid=${file//[!0-9]/}
  [[ $(readlink "/proc/$pid/exe") == */csr-bench ]] && echo "$pid"
done | head -n 1) || true
if [[ -n $victim ]]; then kill -KILL "$victim"; fi
gone "$prepare" "$run" "$report"
before=$(($(wc -l <results2/pubmed.jsonl) + $(wc -l <results2/bcsstk18.jsonl)))
((before < 16)) || echo "note: both tasks were quicker than the kill"
jobs=$(again)
read -r _ prepare _ run _ report <<<"$jobs"
gone "$prepare" "$run" "$report"
[[ $(records results2/pubmed.jsonl results2/bcsstk18.jsonl) == 8$'\n'8 ]] || fail "not every case was finished"
echo "interrupted with $before of 16 cases done, finished by the resubmission"

# Stand-in GPUs are not needed to see that a promise which the mask breaks is said aloud.
SLURM_CPUS_PER_TASK=64 "$scripts/run.sh" --cache cache --results results3 -k 8 karate -- --repeat 1 >/dev/null 2>warned
grep -q 'SLURM_CPUS_PER_TASK is 64' warned || fail "no warning about the affinity mask"
echo "Slurm: everything as it should be"
