#!/usr/bin/env bash
# Products on many ranks under a real Slurm that this script starts and ends: ranks on two nodes, one that is
# killed, wrong numbers of them, two jobs at once, a launcher without PMIx, a node that is drained or fails.
#
# Usage: ranks.sh ROOT BIN_FOLDER    (exit code 77: Slurm or MPI is not installed)
set -euo pipefail
export SLURM_LOCAL_CPUS=4 OMP_NUM_THREADS=1
# shellcheck source=tests/slurm/setup.sh
. "$(dirname "$0")/setup.sh" "$1" "$2"
ls "$bin"/../lib*/libcsrkit_mpi.so.* >/dev/null 2>&1 || { echo "skipped: built without MPI"; exit 77; }
cp "$root/tests/data/golden/rank_parts_f32.csr" parts.csr
csr-generate rmat graph.csr --set scale=14 --quiet

ranks() { # ranks OPTION_OF_SRUN... COMMAND...: within a minute, its output in ./out and ./err
  local code=0
  timeout 60 srun --mpi=pmix "$@" >out 2>err || code=$?
  return $code
}
ranks -N 2 -n 4 csr-spmm-dist parts.csr --grid 4x1 -k 6 --check --repeat 2 --output c.npy --json || fail "four ranks on two nodes: $(cat err)"
python3 - <<'END' || fail "the record of four ranks"
import json
record = json.load(open("out"))
assert record["launcher"] == "srun" and len(record["ranks"]) == 4, record["launcher"]
assert record["check"]["rows_checked"] == 5 and record["bytes"]["total"] == sum(r["halo_cols"] * 6 * 4 for r in record["ranks"])
END
csr-spmm-dist parts.csr --ranks 4 --grid 4x1 -k 6 --repeat 1 --output threads.npy --quiet
cmp c.npy threads.npy || fail "ranks of srun and threads make different C"
ranks -N 2 -n 3 csr-spgemm-dist graph.csr --check --repeat 1 --output squared.csr --quiet || fail "a sparse product: $(cat err)"
csr-info squared.csr --quiet || fail "its file"
echo "ranks on two nodes: done"

code=0
ranks -n 3 csr-spmm-dist parts.csr --grid 3x1 --output wrong.npy || code=$?
[[ $code == 2 ]] || fail "wrong P: exit code $code"
grep -q "holds parts for 2 and 4 ranks, not for 3" err || fail "wrong P: $(cat err)"
code=0
timeout 60 srun --mpi=none -n 2 csr-spmm-dist graph.csr >out 2>err || code=$?
[[ $code == 2 ]] || fail "without PMIx: exit code $code"
grep -q "add --mpi=pmix" err || fail "without PMIx: $(cat err)"
echo "wrong numbers of ranks and a launcher without PMIx: refused"

# A rank is killed: all end within seconds, and nothing is left.
export DIST_TEST=$PWD
timeout 60 srun --mpi=pmix -n 3 csr-spmm-dist graph.csr -k 30 --repeat 1000000 --output lost.npy >out 2>err &
job=$!
victim=
for ((i = 0; i < 300; i++)); do
  for process in $(pgrep -x csr-spmm-dist || true); do
    mine=$(tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -cx -e "DIST_TEST=$PWD" -e SLURM_PROCID=1) || true
    if [[ $mine == 2 ]]; then victim=$process; fi
  done
  [[ -z $victim ]] || break
  sleep 0.1
done
[[ -n $victim ]] || fail "rank 1 never came: $(cat err)"
sleep 2
kill -KILL "$victim"
SECONDS=0 code=0
wait $job || code=$?
((SECONDS <= 15)) || fail "the others lived on for $SECONDS s"
[[ $code != 0 ]] || fail "exit code 0 though a rank was killed"
grep -q 'rank 1 on' err || fail "nobody names rank 1: $(cat err)"
if compgen -G 'lost.npy*' >/dev/null; then fail "left behind: $(compgen -G 'lost.npy*')"; fi
echo "a killed rank ended the others in $SECONDS s, exit code $code: $(grep -m 1 'rank 1 on' err)"

# Two jobs at once on one file, one output: it is whole.
timeout 60 srun --mpi=pmix -n 2 csr-spmm-dist graph.csr -k 4 --repeat 2 --output both.npy --force --quiet 2>one &
first=$!
ranks -n 2 csr-spmm-dist graph.csr -k 4 --repeat 2 --output both.npy --force --quiet || fail "the second job: $(cat err)"
wait $first || fail "the first job: $(cat one)"
csr-spmm-dist graph.csr --ranks 2 -k 4 --repeat 1 --output alone.npy --quiet
cmp both.npy alone.npy || fail "two jobs at once wrote another C"
echo "two jobs at once: one whole file"

# A node is drained: a job that runs ends as it would have, one that needs the node is refused within seconds.
node=$(sinfo -h -N -o %N | tail -n 1)
running() { # running: waits until a job runs
  for ((i = 0; i < 300; i++)); do
    [[ -z $(squeue -h -t R) ]] || return 0
    sleep 0.1
  done
  fail "no job runs: $(squeue)"
}
timeout 60 srun --mpi=pmix -N 2 -n 2 csr-spmm-dist graph.csr -k 4 --repeat 3000 --output drained.npy --quiet >out 2>err &
job=$!
running
scontrol update NodeName="$node" State=DRAIN Reason=test
wait $job || fail "the job on a node that was drained: $(cat err)"
cmp drained.npy alone.npy || fail "a drained node changed C"
SECONDS=0 code=0
timeout 60 srun --immediate=3 --mpi=pmix -N 2 -n 2 csr-spmm-dist graph.csr --output never.npy >out 2>err || code=$?
[[ $code == 1 ]] || fail "a node that was drained before: exit code $code"
((SECONDS <= 15)) || fail "the refusal took $SECONDS s"
grep -q 'node not available (down, drained or reserved)' err || fail "nobody says why: $(cat err)"
scontrol update NodeName="$node" State=RESUME
echo "a drained node: the job that ran ended whole, the next one was refused after $SECONDS s"

# A node fails: its job ends within seconds, and nothing is left.
timeout 60 srun --mpi=pmix -N 2 -n 2 csr-spmm-dist graph.csr -k 30 --repeat 1000000 --output lost.npy >out 2>err &
job=$!
running
sleep 2
scontrol update NodeName="$node" State=DOWN Reason=test
SECONDS=0 code=0
wait $job || code=$?
[[ $code != 0 ]] || fail "exit code 0 though a node failed"
((SECONDS <= 15)) || fail "the ranks lived on for $SECONDS s"
grep -q "Node failure on $node" err || fail "nobody names the node: $(cat err)"
if compgen -G 'lost.npy*' >/dev/null || compgen -G 'never.npy*' >/dev/null; then fail "left behind: $(ls)"; fi
echo "a failed node ended its job in $SECONDS s, exit code $code: $(grep -m 1 'Node failure' err)"
