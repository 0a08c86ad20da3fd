# shellcheck shell=bash
# What csr-spgemm-gpu says, word for word, where there is GPU code and no GPU to be seen.
needs_cuda
export CUDA_VISIBLE_DEVICES=
show csr-spgemm-gpu --list
show csr-spgemm-gpu tiny.csr --repeat 0
