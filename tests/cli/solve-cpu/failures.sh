# shellcheck shell=bash
# What cannot be solved is exit code 1, named with its file, and the best iterate has another name.
matrix() { # matrix NAME SYMMETRY: entries on stdin
  { printf '%%%%MatrixMarket matrix coordinate real %s\n3 3 %s\n' "$2" "$3"; cat; } >"$1.mtx"
  csr-import --force "$1.mtx" "$1.csr" --quiet
}
matrix indefinite general 3 <<<$'1 1 1\n2 2 -1\n3 3 2'
matrix lopsided general 4 <<<$'1 1 2\n2 2 2\n3 3 2\n1 3 0.5'
matrix poisoned general 3 <<<$'1 1 1\n2 2 nan\n3 3 2'
matrix large symmetric 3 <<<$'1 1 1e39\n2 2 1e39\n3 3 1'
matrix singular general 2 <<<$'1 1 1\n2 2 1'
matrix good symmetric 5 <<<$'1 1 4\n2 1 1\n2 2 3\n3 2 1\n3 3 2'
expect 1 csr-solve-cpu indefinite.csr --output x.npy --rhs random
says "indefinite.csr: right-hand side 0: indefinite"
says "not positive definite"
says "the best iterate is in x.best.npy"
[ -f x.best.npy ] || fail "no best iterate"
no_file x.npy
expect 1 csr-solve-cpu lopsided.csr --output y.npy
says "lopsided.csr: A is not symmetric, and conjugate gradients need that: row 0, column 2 holds 0.5, row 2, column 0 holds 0"
says "csr-import --symmetrize"
expect 1 csr-solve-cpu lopsided.csr --output y.npy --json
silent out
no_file y.best.npy
expect 3 csr-solve-cpu poisoned.csr --output y.npy
says "poisoned.csr: expected finite values, found nan in row 1, column 1 (counted from 0)"
for precision in f32 refined; do
  expect 3 csr-solve-cpu large.csr --output y.npy --precision $precision
  says "large.csr: expected values that f32 can hold, found 1e+39 in row 0, column 0 (counted from 0); use --precision f64"
  expect 3 csr-solve-cpu large.csr --rhs from-solution --precision $precision
  says "large.csr: expected values that f32 can hold, found 1e+39 in row 0, column 0"
done
expect 0 csr-solve-cpu large.csr --output large.npy
no_file y.npy
expect 1 csr-solve-cpu singular.csr --output s.npy
says "right-hand side 0: breakdown"
expect 1 csr-solve-cpu indefinite.csr --preconditioner jacobi
says "indefinite.csr: the diagonal element of row 1 is -1: A is not positive definite"
# Positive, but too small: nothing is said about A that does not hold.
matrix faint symmetric 3 <<<$'1 1 1e-310\n2 2 1e-310\n3 3 1e-310'
for preconditioner in jacobi chebyshev; do
  expect 1 csr-solve-cpu faint.csr --preconditioner $preconditioner
  says "faint.csr: the diagonal element of row 0 is 1e-310: its reciprocal overflows; scale the system up"
done
expect 1 csr-solve-cpu --force good.csr --iterations 1 --output y.npy --rhs random --json
says "iteration limit"
equals "$(json status)" failed
equals "$(json columns.0.status)" iteration_limit
no_file y.npy
[ -f y.best.npy ] || fail "no best iterate"
# Squares that overflow: infinity by infinity has no sign.
printf '%%%%MatrixMarket matrix array real general\n3 1\n1e200\n1e200\n1e200\n' >vast.mtx
expect 1 csr-solve-cpu good.csr --rhs vast.mtx
says "not finite"
prints " nan"
if grep -e -nan out; then fail "a NaN has a sign"; fi
csr-generate poisson grid.csr --set nx=20 --value-kind f64 --quiet
for kernel in cg reference; do
  expect 1 csr-solve-cpu --force grid.csr --tolerance 1e-17 --output y.npy --kernel $kernel
  says "stagnated"
  no_file y.npy
done
# What makes no sense is refused before anything is read.
expect 2 csr-solve-cpu good.csr --generate-dense 3
expect 2 csr-solve-cpu good.csr --condition 3
expect 2 csr-solve-cpu good.csr --degree 3
expect 2 csr-solve-cpu good.csr --preconditioner block-jacobi
says "--blocks"
expect 2 csr-solve-cpu good.csr --blocks 3
expect 2 csr-solve-cpu good.csr --preconditioner block-jacobi --blocks 0
expect 2 csr-solve-cpu good.csr --preconditioner ilu
expect 2 csr-solve-cpu good.csr --precision f16
for option in tolerance absolute-tolerance; do
  expect 2 csr-solve-cpu good.csr --$option -0.5
  says "--$option is '-0.5'; it must be a number of 0 or more"
done
expect 2 csr-solve-cpu good.csr --tolerance 0
says "--absolute-tolerance must be above 0"
expect 2 csr-solve-cpu --generate-dense 5 --condition 0.5
says "--condition is '0.5'; it must be a number of 1 or more"
expect 2 csr-solve-cpu good.csr --product no_such
says "csr_rows"
expect 2 csr-solve-cpu good.csr --kernel reference --product csr_rows
expect 2 csr-solve-cpu good.csr --kernel reference --precision refined
expect 2 csr-solve-cpu good.csr --tolerance -1
expect 5 csr-solve-cpu --generate-dense 2000000
says "--generate-dense"
csr-generate erdos-renyi wide.csr --set rows=3 --set cols=4 --set nnz=5 --quiet
expect 3 csr-solve-cpu wide.csr
says "3 x 4"
expect 4 csr-solve-cpu nowhere.csr
says nowhere.csr
expect 4 csr-solve-cpu good.csr --output no/folder/x.npy
