# shellcheck shell=bash
# What csr-sddmm-gpu says of a product, word for word, but for what a GPU's memory and clock decide.
needs_cuda
export DROP='^(memory|upload|analysis|download) '
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
needs_gpu csr-sddmm-gpu tiny.csr --repeat 1
show csr-sddmm-gpu tiny.csr -k 1 --kernel row_groups --repeat 2 --check
show csr-sddmm-gpu tiny.csr -k 1 --kernel row_groups --repeat 2 --check --json
