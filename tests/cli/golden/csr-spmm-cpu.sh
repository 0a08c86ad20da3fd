# shellcheck shell=bash
# What csr-spmm-cpu says, word for word.
export DROP=vendor_
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
# Rows of more than 64 bytes: for narrower ones auto takes a kernel that only processors with AVX2 have.
show csr-spmm-cpu tiny.csr -k 12 --repeat 2 --check
show csr-spmm-cpu tiny.csr -k 12 --repeat 2 --check --json
show csr-spmm-cpu --list
show csr-spmm-cpu tiny.csr -k 0
