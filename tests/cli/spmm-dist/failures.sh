# shellcheck shell=bash
# A rank that dies, a disk that is full, two jobs at once: all ranks end within seconds, and no half file stays.
needs_mpi
csr-generate rmat big.csr --set scale=15 --quiet

# Killed: the others end, one says which rank it was, and the exit code is not 0.
mpi 3 csr-spmm-dist big.csr -k 30 --repeat 1000000 --output c.npy >out 2>err &
job=$!
victim=
for ((i = 0; i < 600; i++)); do
  victim=$(for process in $(pgrep -x csr-spmm-dist || true); do
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qx "CASE_FOLDER=$PWD" || continue
    tr '\0' '\n' 2>/dev/null <"/proc/$process/environ" | grep -qx OMPI_COMM_WORLD_RANK=1 && echo "$process"
  done) || true
  [ -n "$victim" ] && break
  sleep 0.1
done
[ -n "$victim" ] || fail "rank 1 never came"
sleep 2
kill -KILL "$victim"
SECONDS=0
code=0
wait $job || code=$?
[ $SECONDS -le 10 ] || fail "the others lived on for $SECONDS s"
[ $code -ne 0 ] || fail "exit code 0 though a rank was killed"
grep -qE 'rank 1 ' err || { cat err; fail "nobody names rank 1"; }
no_file c.npy

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
