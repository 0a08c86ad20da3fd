# shellcheck shell=bash
# What csr-spmm-dist says, word for word.
parts=$CLI_FOLDER/../data/golden/rank_parts_f32.csr
cp "$parts" parts.csr
export OMP_NUM_THREADS=1
HIDE="  $(uname -n) "
export HIDE
# Rows of more than 64 bytes: for narrower ones auto takes a kernel that only processors with AVX2 have.
show csr-spmm-dist parts.csr -k 24 --repeat 2 --check
show csr-spmm-dist parts.csr -k 24 --repeat 2 --ranks 2 --grid 2x1 --check --threads 1 --json
show csr-spmm-dist parts.csr --ranks 3 --grid 3x1 --quiet
show csr-spmm-dist parts.csr --grid 4
