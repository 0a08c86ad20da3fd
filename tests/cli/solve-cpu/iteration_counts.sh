# shellcheck shell=bash
# Iteration counts on systems of csr-generate and on real matrices are those of SciPy 1.17's cg within 2 %:
# relative tolerance 1e-8, right-hand side ((7919 i) mod 1009) / 1009 - 1/2, for bcsstk18 ones.
right_hand_side() { # ROWS
  awk -v n="$1" 'BEGIN { print "%%MatrixMarket matrix array real general"; print n, 1
    for (i = 0; i < n; ++i) printf "%.17g\n", i * 7919 % 1009 / 1009 - 0.5 }' >rhs.mtx
}
counts() { # NAME COUNT JACOBI
  right_hand_side "$(csr-info "$1.csr" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"])')"
  for preconditioner in none jacobi; do
    expect 0 csr-solve-cpu "$1.csr" --rhs rhs.mtx --preconditioner $preconditioner --json
    expected=$2
    if [ $preconditioner = jacobi ]; then expected=$3; fi
    python3 -c 'import sys; ours, theirs = map(int, sys.argv[1:]); sys.exit(abs(ours - theirs) > 0.02 * theirs)' \
      "$(json iterations)" "$expected" || fail "$1, $preconditioner: $(json iterations), SciPy $expected"
  done
}
poisson() { # NAME SETTINGS...
  local name=$1
  shift
  csr-generate poisson "$name.csr" "${@/#/--set=}" --value-kind f64 --quiet
}
poisson p5 nx=200 ny=150
counts p5 552 552
poisson p9 nx=120 stencil=9
counts p9 233 233
poisson p7 nx=30 stencil=7
counts p7 97 97
poisson p27 nx=30 stencil=27
counts p27 55 55
poisson anisotropic nx=100 weight-y=0.01
counts anisotropic 454 454
poisson random nx=100 contrast=1e4
counts random 2685 801
csr-import "$DATASETS/usroads.mtx.gz" usroads.csr --quiet
csr-generate laplacian roads.csr --set graph=usroads.csr --value-kind f64 --quiet
counts roads 82 71

# Values of 12 orders of magnitude: with Jacobi it converges, without it does not.
csr-import "$DATASETS/bcsstk18.mtx.gz" bcsstk18.csr --value-kind f64 --quiet
expect 0 csr-solve-cpu bcsstk18.csr --preconditioner jacobi --json
iterations=$(json iterations)
if [ "$iterations" -lt 1950 ] || [ "$iterations" -gt 2028 ]; then fail "bcsstk18: $iterations, SciPy 1989"; fi
expect 1 csr-solve-cpu bcsstk18.csr --iterations 3000
says "iteration limit"
