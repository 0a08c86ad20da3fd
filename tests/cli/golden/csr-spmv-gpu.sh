# shellcheck shell=bash
# What csr-spmv-gpu says, word for word, where there is GPU code and no GPU to be seen.
needs_cuda
export CUDA_VISIBLE_DEVICES=
show csr-spmv-gpu --list
show csr-spmv-gpu tiny.csr --repeat 0
