# shellcheck shell=bash
# A system that was exported is solved by PETSc on several ranks; its solution solves ours.
for word in mpicc mpirun pkg-config; do command -v $word >/dev/null || { echo "skipped: no $word"; exit 6; }; done
pkg-config --exists petsc || { echo "skipped: PETSc is not installed"; exit 6; }
# shellcheck disable=SC2046
mpicc -Wall -Wextra -Werror "$CLI_FOLDER/../../examples/petsc_solve.c" -o petsc_solve $(pkg-config --cflags --libs petsc)
csr-generate poisson grid.csr --set nx=60 --set ny=50 --value-kind f64 --quiet
csr-export grid.csr grid.petsc --quiet
for ranks in 1 3; do
  mpi $ranks ./petsc_solve grid.petsc x.npy -ksp_rtol 1e-9 -pc_type jacobi >out
  grep -qx 'solved yes' out || fail "PETSc did not solve it on $ranks ranks"
  csr-solve-cpu grid.csr --guess x.npy --tolerance 1e-8 --json >ours.json
  python3 - <<'PYTHON' || fail "x of $ranks ranks does not solve the system"
import json
solve = json.load(open("ours.json"))
side, = solve["columns"]
assert side["status"] == "converged" and side["iterations"] == 0, side
PYTHON
  rm x.npy
done
# Too few iterations: no file, and it says so.
if mpi 2 ./petsc_solve grid.petsc x.npy -ksp_rtol 1e-9 -ksp_max_it 3 >out 2>err; then fail "three iterations are enough"; fi
grep -qx 'solved no' out || fail "it does not say that nothing was solved"
no_file x.npy x.npy.unfinished
