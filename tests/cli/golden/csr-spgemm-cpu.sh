# shellcheck shell=bash
# What csr-spgemm-cpu says, word for word.
export DROP=vendor_
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-spgemm-cpu tiny.csr --repeat 2 --check
show csr-spgemm-cpu tiny.csr --repeat 2 --check --json
show csr-spgemm-cpu --list
show csr-spgemm-cpu tiny.csr --memory-limit 1
