# shellcheck shell=bash
# What csr-reorder says, word for word.
csr-generate poisson grid.csr --set nx=4 --set ny=3 --quiet
show csr-reorder grid.csr moved.csr --method rcm
show csr-reorder grid.csr moved.csr --method rcm --force --json
show csr-reorder --list
show csr-reorder grid.csr none.csr --method alphabetical
