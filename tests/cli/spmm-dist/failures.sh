# shellcheck shell=bash
# A rank that dies, a disk that is full, two jobs at once: all ranks end within seconds, and no half file stays.
needs_mpi
csr-generate rmat big.csr --set scale=15 --quiet

# Killed: the others end within 10 s, somebody (a rank, or before they know each other mpirun) says which rank it was, and
# nothing is written. The exit code is that of the killed process (128 + 9), which Open MPI takes if it has noticed
# itself, or the 70 of a rank that has noticed. Open MPI 4.1's launcher now and then waits for itself for ever when all
# ranks are gone and it has said so (a lock in PMIx_server_finalize): then it is killed, too.
processes() { # processes PROGRAM [RANK (a pattern)]: of this case
  local process environment
  for process in $(pgrep -x "$1" || true); do
    environment=$(tr '\0' '\n' 2>/dev/null <"/proc/$process/environ") || continue
    grep -qx "CASE_FOLDER=$PWD" <<<"$environment" || continue
    [ $# -eq 1 ] || grep -qx "OMPI_COMM_WORLD_RANK=$2" <<<"$environment" || continue
    echo "$process"
  done
}
killed() { # killed RANK SECONDS OUTPUT TOOL ARGUMENTS...: the rank is killed so long after it came
  local rank=$1 after=$2 output=$3 tool=$4 victim='' code=0 i job
  shift 3
  mpi 3 "$@" --output "$output" >out 2>err &
  job=$!
  for ((i = 0; i < 600; i++)); do
    victim=$(processes "$tool" "$rank")
    [ -n "$victim" ] && break
    sleep 0.1
  done
  [ -n "$victim" ] || fail "rank $rank never came"
  sleep "$after"
  kill -KILL "$victim"
  SECONDS=0
  while [ -n "$(processes "$tool" '[0-9]*')" ]; do
    [ $SECONDS -le 10 ] || { cat err; fail "$tool: the others live on after $SECONDS s"; }
    sleep 0.1
  done
  for ((i = 0; i < 50; i++)); do
    kill -0 $job 2>/dev/null || break
    sleep 0.1
  done
  processes mpirun | xargs -r kill -KILL
  wait $job || code=$?
  [ $code -eq 137 ] || [ $code -eq 70 ] || fail "$tool: exit code $code after rank $rank was killed, expected 137 or 70"
  grep -qE "rank $rank " err || { cat err; fail "$tool: nobody names rank $rank"; }
  no_file "$output"
}
kill_in_both_tools() { # kill_in_both_tools RANK SECONDS
  killed "$1" "$2" c.npy csr-spmm-dist big.csr -k 30 --repeat 1000000
  killed "$1" "$2" c.csr csr-spgemm-dist big.csr --repeat 1000000
}
for after in 0 0.1 0.7; do kill_in_both_tools 1 $after; done
for rank in 0 1 2; do
  kill_in_both_tools $rank 0.3
  kill_in_both_tools $rank 2
done

# A disk that is full (a limit of file size is met in the same place): exit code 4, no file. On threads:
# the limit would meet MPI's own files, too.
(
  ulimit -f 1000
  expect 4 csr-spmm-dist big.csr -k 30 --ranks 3 --repeat 1 --output c.npy
  says "cannot write 'c.npy'"
)
no_file c.npy

# Two jobs at once on one file, with one output: each whole, one of them in place.
mpi 2 csr-spmm-dist big.csr -k 4 --repeat 3 --output c.npy --force >one 2>&1 &
first=$!
mpi 2 csr-spmm-dist big.csr -k 4 --repeat 3 --output c.npy --force >two 2>&1 || { cat two; fail "the second job"; }
wait $first || { cat one; fail "the first job"; }
csr-spmm-dist big.csr -k 4 --ranks 2 --output whole.npy --repeat 1 --quiet
cmp c.npy whole.npy || fail "C is not whole"
