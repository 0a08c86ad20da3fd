# shellcheck shell=bash
# What csr-info says, word for word.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-info tiny.csr
show csr-info tiny.csr --json
show csr-info tiny.csr --header-only
head -c 5000 tiny.csr >cut.csr
show csr-info cut.csr
