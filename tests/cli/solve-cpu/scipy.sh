# shellcheck shell=bash
# As many iterations as SciPy's cg, give or take 2 %, on grids and on the Laplacian of a graph.
python=$(python_with numpy scipy) || { echo "SciPy is not installed"; exit 6; }
cat >laplacian.py <<'END'
import sys
import numpy as np
import scipy.io
import scipy.sparse as sparse
graph = scipy.io.mmread(sys.argv[1]).tocsr()
graph = abs(graph + graph.T)
graph.setdiag(0)
graph.eliminate_zeros()
degrees = np.asarray(graph.sum(axis=1)).ravel()
matrix = (sparse.diags(degrees + 0.1) - graph).tocoo()
scipy.io.mmwrite("laplacian.mtx", matrix, symmetry="symmetric")
END
cat >compare.py <<'END'
import json
import sys
import numpy as np
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg
matrix = scipy.io.mmread(sys.argv[1]).tocsr()
ours = json.load(open("out"))
scale = sparse.diags(1 / matrix.diagonal()) if sys.argv[2] == "jacobi" else None
count = 0
def step(_):
    global count
    count += 1
ones = np.ones(matrix.shape[0])
try:
    scipy.sparse.linalg.cg(matrix, ones, rtol=1e-8, atol=0, M=scale, callback=step)
except TypeError:  # before SciPy 1.12
    scipy.sparse.linalg.cg(matrix, ones, tol=1e-8, atol=0, M=scale, callback=step)
allowed = max(1, 0.02 * count)
assert abs(ours["iterations"] - count) <= allowed, (sys.argv, ours["iterations"], count)
END
csr-generate poisson flat.csr --set nx=40 --set ny=31 --value-kind f64 --quiet
csr-generate poisson cube.csr --set nx=11 --set stencil=27 --value-kind f64 --quiet
"$python" laplacian.py "$DATASETS/karate.mtx"
csr-import laplacian.mtx laplacian.csr --quiet
for matrix in flat cube laplacian; do
  csr-export $matrix.csr $matrix.plain.mtx --quiet
  for preconditioner in none jacobi; do
    expect 0 csr-solve-cpu $matrix.csr --preconditioner $preconditioner --json
    "$python" compare.py $matrix.plain.mtx $preconditioner
  done
done
