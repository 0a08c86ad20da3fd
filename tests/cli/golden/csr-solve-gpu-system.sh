# shellcheck shell=bash
# What csr-solve-gpu says of a system, word for word, but for what a GPU's memory and clock decide. The
# system is diagonal: its numbers are exact anywhere.
needs_cuda
export DROP='^memory '
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n' >diagonal.mtx
csr-import diagonal.mtx diagonal.csr --quiet
needs_gpu csr-solve-gpu diagonal.csr
show csr-solve-gpu diagonal.csr --kernel host_scalars --product csr_scalar --output x.npy
show csr-solve-gpu diagonal.csr --kernel host_scalars --product csr_scalar --json
