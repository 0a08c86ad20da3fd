# shellcheck shell=bash
# What csr-generate says, word for word.
show csr-generate poisson grid.csr --set nx=4 --set ny=3
show csr-generate poisson grid.csr --set nx=4 --set ny=3 --force --json
show csr-generate --list
show csr-generate poisson none.csr --set nx=0
show csr-generate poisson grid.csr
