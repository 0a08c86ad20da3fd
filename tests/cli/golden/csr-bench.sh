# shellcheck shell=bash
# What csr-bench says, word for word.
export DROP='gpu\.|vendor_| ladder ' # the tools for one operation list them
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
# Rows of more than 64 bytes: for narrower ones auto takes a kernel that only processors with AVX2 have.
show csr-bench tiny.csr -k 12 --repeat 2 --check --kernels cpu.auto,cpu.row_loop
show csr-bench tiny.csr -k 12 --repeat 2 --check --kernels cpu.auto --json
show csr-bench --list
show csr-bench nowhere.csr
