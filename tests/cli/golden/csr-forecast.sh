# shellcheck shell=bash
# What csr-forecast says, word for word.
export DROP='gpu\.|vendor_| ladder ' # the tools for one operation list them
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-forecast tiny.csr -k 4,8
show csr-forecast tiny.csr --operation spgemm --json
show csr-forecast --list
show csr-forecast tiny.csr --bound
show csr-forecast tiny.csr --tool csr-bench --kernels cpu.auto,cpu.row_loop -k 8
show csr-forecast --tool csr-reorder --method community --sizes 169343,169343,1166243
