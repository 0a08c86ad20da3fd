# shellcheck shell=bash
# What csr-spgemm-dist says, word for word.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
export OMP_NUM_THREADS=1 DROP=vendor_
HIDE="  $(uname -n) "
export HIDE
show csr-spgemm-dist tiny.csr --repeat 2 --check
show csr-spgemm-dist tiny.csr --repeat 2 --ranks 2 --threads 1 --json
