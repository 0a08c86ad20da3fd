# shellcheck shell=bash
# What csr-spmm-gpu says of a product, word for word, but for what a GPU's memory and clock decide.
needs_cuda
export DROP='^(memory|upload|analysis|symbolic|numeric|sort|output|download|forecast) '
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
needs_gpu csr-spmm-gpu tiny.csr --repeat 1
show csr-spmm-gpu tiny.csr -k 4 --kernel v1_warp_per_row --repeat 2 --check
show csr-spmm-gpu tiny.csr -k 4 --kernel v1_warp_per_row --repeat 2 --check --json
