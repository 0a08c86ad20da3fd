# shellcheck shell=bash
# Every solver of the list finds a known solution through the tool, and names what it cannot solve.
needs_cuda
csr-generate poisson grid.csr --set nx=70 --set ny=50 --value-kind f64 --quiet
needs_gpu csr-solve-gpu grid.csr
kernels=$(csr-solve-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])')
for kernel in $kernels; do
  for precision in f64 refined; do
    # A vendor's solver and those with atomics promise no determinism.
    expect 0 csr-solve-gpu grid.csr --kernel "${kernel##*.}" --precision $precision --rhs from-solution --nondeterministic --json
    equals "$(json status)" converged
    python3 -c 'import json; assert json.load(open("out"))["solution_error"] < 1e-5'
  done
done
expect 0 csr-solve-gpu grid.csr --preconditioner chebyshev --right-hand-sides 2 --output x.npy
expect 0 csr-solve-gpu grid.csr --preconditioner block-jacobi --blocks 32
expect 0 csr-solve-gpu grid.csr --preconditioner jacobi
expect 1 csr-solve-gpu grid.csr --iterations 3 --output y.npy
says "y.best.npy"
expect 2 csr-solve-gpu grid.csr --kernel persistent --right-hand-sides 2
