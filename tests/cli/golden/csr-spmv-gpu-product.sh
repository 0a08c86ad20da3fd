# shellcheck shell=bash
# What csr-spmv-gpu says of a product, word for word, but for what a GPU's memory and clock decide.
needs_cuda
export DROP='^(memory|upload|analysis|download) '
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
needs_gpu csr-spmv-gpu tiny.csr --repeat 1
show csr-spmv-gpu tiny.csr --kernel csr_scalar --repeat 2 --check
show csr-spmv-gpu tiny.csr --kernel csr_scalar --repeat 2 --check --json
