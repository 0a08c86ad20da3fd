# shellcheck shell=bash
# What csr-spgemm-gpu says of a product, word for word, but for what a GPU's memory and clock decide.
needs_cuda
export DROP='^(memory|upload|analysis|symbolic|numeric|sort|output|download|forecast) '
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
needs_gpu csr-spgemm-gpu tiny.csr --repeat 1
show csr-spgemm-gpu tiny.csr --kernel v1_cached_members --repeat 2 --check
show csr-spgemm-gpu tiny.csr --kernel v1_cached_members --repeat 2 --check --json
