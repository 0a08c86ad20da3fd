# shellcheck shell=bash
# What csr-solve-cpu says, word for word. The system is diagonal: its numbers are exact anywhere.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n' >diagonal.mtx
csr-import diagonal.mtx diagonal.csr --quiet
show csr-solve-cpu diagonal.csr --product reference --output x.npy
show csr-solve-cpu diagonal.csr --product reference --right-hand-sides 2 --json
show csr-solve-cpu --list
show csr-solve-cpu diagonal.csr --preconditioner jacobi --degree 3
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 -4\n' >indefinite.mtx
csr-import indefinite.mtx indefinite.csr --quiet
show csr-solve-cpu indefinite.csr --product reference --output y.npy
