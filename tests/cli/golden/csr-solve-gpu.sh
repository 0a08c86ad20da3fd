# shellcheck shell=bash
# What csr-solve-gpu says, word for word, where there is GPU code and no GPU to be seen.
needs_cuda
export CUDA_VISIBLE_DEVICES=
show csr-solve-gpu --list
show csr-solve-gpu diagonal.csr --preconditioner jacobi --degree 3
show csr-solve-gpu --generate-dense 3 grid.csr
