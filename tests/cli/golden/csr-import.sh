# shellcheck shell=bash
# What csr-import says, word for word.
tiny_mtx >tiny.mtx
show csr-import tiny.mtx tiny.csr
show csr-import tiny.mtx tiny.csr --force --json
show csr-import --list
sed 's/^2 2 3/2 5 3/' tiny.mtx >wrong.mtx
show csr-import wrong.mtx wrong.csr
