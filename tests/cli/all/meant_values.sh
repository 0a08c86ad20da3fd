# shellcheck shell=bash
# A value that is mistyped is refused with the one that may have been meant, as options are.
meant() { # meant VALUE COMMAND...
  local value=$1
  shift
  expect 2 "$@"
  says "did you mean '$value'?"
}
meant rcm csr-reorder a.csr b.csr --method rmc
meant community csr-reorder a.csr b.csr --method rcm --then comunity
meant rows csr-reorder a.csr b.csr --method rcm --sides row
meant auto csr-spmm-cpu a.csr --kernel atuo
meant cpu.auto csr-bench a.csr --kernels cpu.atuo
meant cpu.spmm.nnz_balanced csr-bench a.csr --kernels cpu.spmm.nnz_balance
meant plus-times csr-spmm-cpu a.csr --semiring plus_times
meant f16 csr-spmm-cpu a.csr --value-kind fp16
meant full csr-spmm-cpu a.csr --check=ful
meant matrix-market csr-import a.mtx b.csr --format matrixmarket
meant first csr-import a.mtx b.csr --duplicates frist
meant poisson csr-generate posson b.csr
meant com_amazon csr-generate --like com-amazn b.csr
meant edge_factor csr-generate rmat b.csr --set edge_facto=3
meant jacobi csr-solve-cpu a.csr --preconditioner jakobi
meant spgemm csr-forecast a.csr --operation spgem
no_file b.csr
# Nothing is guessed that is far away.
expect 2 csr-reorder a.csr b.csr --method alphabetical
if grep -q 'did you mean' err; then fail "alphabetical is like nothing"; fi
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
meant matrix-market csr-export tiny.csr b.x --format matrix_market
no_file b.x
