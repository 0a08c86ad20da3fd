# shellcheck shell=bash
# What csr-spmv-cpu says, word for word.
export DROP=vendor_
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-spmv-cpu tiny.csr --kernel csr_rows --repeat 2 --check
show csr-spmv-cpu tiny.csr --kernel csr_rows --repeat 2 --check --json
show csr-spmv-cpu --list
show csr-spmv-cpu tiny.csr -k 3
