# shellcheck shell=bash
# What csr-density says, word for word.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-density tiny.csr
show csr-density tiny.csr --json
show csr-density tiny.csr nowhere.csr
