# shellcheck shell=bash
# What csr-sddmm-cpu says, word for word.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-sddmm-cpu tiny.csr -k 3 --kernel row_loop --repeat 2 --check
show csr-sddmm-cpu tiny.csr -k 3 --kernel row_loop --repeat 2 --check --times-values --json
show csr-sddmm-cpu --list
show csr-sddmm-cpu tiny.csr --dense-kind f16 --times-values
