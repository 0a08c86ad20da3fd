# shellcheck shell=bash
# What csr-partition says, word for word.
csr-generate poisson grid.csr --set nx=8 --set ny=6 --quiet
show csr-partition grid.csr ranked.csr --parts 2,4 --method blocks
show csr-partition grid.csr ranked.csr --parts 4 --method stream --force --json
show csr-partition grid.csr other.csr --parts 2,3 --method blocks
show csr-info ranked.csr
