# shellcheck shell=bash
# Too little address space is exit code 5 with a sentence, and no file, at whatever moment it shows.
csr-generate rmat graph.csr --set scale=13 --quiet
csr-export graph.csr graph.mtx.gz --quiet
csr-export graph.csr graph.mtx --quiet
limited() { # limited COMMAND...: at many limits; it must fail at some and succeed at the last
  local limit code failed=0
  for limit in 30000 40960 50000 65000 80000 100000 130000 150000 152000 154000 156000 158000 170000 220000 300000 \
    500000 4000000; do
    # Below that the system cannot even load the program.
    if ! (ulimit -v $limit && "$1" --version >/dev/null 2>&1); then continue; fi
    code=0
    (ulimit -v $limit && exec "$@" >out 2>err) || code=$?
    case $code in
      0) ;;
      5)
        failed=$((failed + 1))
        grep -q '^csr-[a-z-]*: error: ' err || { cat err >&2; fail "no sentence at $limit KiB: $*"; }
        no_file made
        ;;
      *) cat err >&2; fail "exit code $code at $limit KiB: $*" ;;
    esac
    rm -f made*
  done
  equals "$code" 0
  [ "$failed" -gt 0 ] || fail "no limit was too low: $*"
}
export OMP_NUM_THREADS=4
limited csr-spmm-cpu graph.csr -k 32 --check --repeat 1 --output made.npy
limited csr-spgemm-cpu graph.csr --check --repeat 1 --output made.csr
limited csr-export graph.csr made.mtx
limited csr-export graph.csr made.mtx.gz
limited csr-import graph.mtx made.csr
limited csr-import graph.mtx.gz made.csr
limited csr-info graph.csr
limited csr-generate rmat made.csr --set scale=13
limited csr-reorder graph.csr made.csr --method rcm
limited csr-reorder graph.csr made.csr --method degree
csr-generate poisson grid.csr --set nx=150 --value-kind f64 --quiet
limited csr-spmv-cpu grid.csr --check --repeat 1 --kernel compressed --output made.npy
limited csr-solve-cpu grid.csr --tolerance 1e-3 --precision refined --preconditioner chebyshev \
  --right-hand-sides 9 --output made.npy
limited csr-bench graph.csr -k 8 --repeat 1 --json

# A small file whose operand needs far more than there is.
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 2147483647 1\n1 1\n' >wide.mtx
csr-import wide.mtx wide.csr --quiet
expect 5 sh -c 'ulimit -v 4000000; exec csr-spmv-cpu wide.csr --output made.npy'
says memory
no_file made.npy

# What csr-generate needs for rows is counted before it is taken: else the system would end it, without a word.
rows=$(awk '/^MemAvailable:/ { print int($2 * 1024 / 12) }' /proc/meminfo) # offsets fit, what is needed beside them not
if [ "$rows" -le 2147483647 ]; then
  expect 5 sh -c "ulimit -v $((rows * 14 / 1024)); exec csr-generate erdos-renyi made.csr --set rows=$rows --set nnz=1"
  says "ask for a smaller one"
  no_file made.csr
fi

# More threads than any machine has are as many as there may be, or too many for its limits.
for threads in 100000 2000000000; do
  code=0
  OMP_NUM_THREADS=$threads csr-spmv-cpu grid.csr --repeat 1 --output made.npy >out 2>err || code=$?
  case $code in
    0) rm made.npy ;;
    5) no_file made.npy ;;
    *) cat err >&2; fail "exit code $code of $threads threads" ;;
  esac
done
