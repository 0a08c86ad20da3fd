# shellcheck shell=bash
# The report of a small import, word for word (without its times).
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr | grep -vE '^(read|sort|transform|symmetry|write) '
