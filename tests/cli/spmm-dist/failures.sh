# shellcheck shell=bash
# A rank that dies, a disk that is full, two jobs at once: all ranks end within seconds, and no half file stays.
needs_mpi
csr-generate rmat big.csr --set scale=15 --quiet

# Killed: the others end within 10 s, the exit code is not 0, somebody (a rank, or before they know each other mpirun)
# says which rank it was, and nothing is written.
process_of_rank_1() { # process_of_rank_1 TOOL
  local process
  for process in $(pgrep -x "$1" || true); do
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qx "CASE_FOLDER=$PWD" || continue
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 && echo "$process"
  done
}
killed() { # killed SECONDS OUTPUT TOOL ARGUMENTS...: rank 1 is killed so long after it came
  local after=$1 output=$2 tool=$3 victim='' code=0 i job
  shift 2
  mpi 3 "$@" --output "$output" >out 2>err &
  job=$!
  for ((i = 0; i < 600; i++)); do
    victim=$(process_of_rank_1 "$tool") || true
    [ -n "$victim" ] && break
    sleep 0.1
  done
  [ -n "$victim" ] || fail "rank 1 never came"
  sleep "$after"
  kill -KILL "$victim"
  SECONDS=0
  wait $job || code=$?
  [ $SECONDS -le 10 ] || fail "$tool: the others lived on for $SECONDS s"
  [ $code -ne 0 ] || fail "$tool: exit code 0 though a rank was killed"
  grep -qE 'rank 1 ' err || { cat err; fail "$tool: nobody names rank 1"; }
  no_file "$output"
}
for after in 0 0.1 0.3 0.7 2; do
  killed $after c.npy csr-spmm-dist big.csr -k 30 --repeat 1000000
  killed $after c.csr csr-spgemm-dist big.csr --repeat 1000000
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
