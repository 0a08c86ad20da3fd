# shellcheck shell=bash
# What csr-spmm-gpu says, word for word, where there is GPU code and no GPU to be seen.
needs_cuda
export CUDA_VISIBLE_DEVICES=
show csr-spmm-gpu --list
show csr-spmm-gpu tiny.csr --repeat 0
