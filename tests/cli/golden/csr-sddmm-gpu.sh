# shellcheck shell=bash
# What csr-sddmm-gpu says, word for word, where there is GPU code and no GPU to be seen.
needs_cuda
export CUDA_VISIBLE_DEVICES=
show csr-sddmm-gpu --list
show csr-sddmm-gpu tiny.csr --repeat 0
