# shellcheck shell=bash
# Systems whose solution is known, from every source of right-hand sides, to a file and back.
csr-generate poisson grid.csr --set nx=23 --set ny=17 --value-kind f64 --quiet
for options in '' '--precision refined' '--precision f32 --tolerance 1e-5' '--preconditioner jacobi' \
  '--preconditioner block-jacobi --blocks 17' '--preconditioner chebyshev --degree 3' \
  '--right-hand-sides 3' '--kernel reference' '--product csr_rows' '--threads 3'; do
  # shellcheck disable=SC2086 # options are words
  expect 0 csr-solve-cpu grid.csr --rhs from-solution --json $options
  equals "$(json status)" converged
  python3 -c 'import json; assert json.load(open("out"))["solution_error"] < 1e-3'
done
# The default tolerance is one that the precision reaches.
expect 0 csr-solve-cpu grid.csr --precision f32 --json
equals "$(json status)" converged
# What is written is read again: as a guess it is the solution already.
expect 0 csr-solve-cpu grid.csr --output x.npy --tolerance 1e-10 --json
first=$(json iterations)
python3 -c 'import json; r = json.load(open("out")); assert len(r["residual_history"]) == r["iterations"] + 1'
expect 0 csr-solve-cpu grid.csr --guess x.npy --json
equals "$(json iterations)" 0
[ "$first" -gt 20 ] || fail "only $first iterations"
# x of one system is the right-hand side of another, from a .npy file and from Matrix Market.
expect 0 csr-solve-cpu grid.csr --rhs x.npy --json
[ "$(json iterations)" -gt 0 ] || fail "no iterations"
printf '%%%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n' >b.mtx
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n' >a.mtx
csr-import a.mtx a.csr --quiet
expect 0 csr-solve-cpu a.csr --rhs b.mtx --output x2.npy
expect 3 csr-solve-cpu grid.csr --rhs b.mtx
says "b.mtx"
expect 3 csr-solve-cpu a.csr --rhs b.mtx --right-hand-sides 3
says "b.mtx"
expect 3 csr-solve-cpu a.csr --guess b.mtx
says "b.mtx"
# Dense systems, generated and from a file, with every product.
expect 0 csr-solve-cpu --generate-dense 150 --condition 50 --output x150.npy --rhs from-solution
prints "generated, dense"
for product in rows half packed; do
  expect 0 csr-solve-cpu --generate-dense 150 --precision refined --product $product --json
  equals "$(json status) $(json is_dense)" "converged True"
done
# A partition that travels with a matrix gives the blocks.
expect 3 csr-solve-cpu grid.csr --preconditioner block-jacobi --blocks partition
says "csr-reorder"
csr-reorder grid.csr parts.csr --method community --quiet
expect 0 csr-solve-cpu parts.csr --preconditioner block-jacobi --blocks partition --json
equals "$(json status)" converged
