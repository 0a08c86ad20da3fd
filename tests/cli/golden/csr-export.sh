# shellcheck shell=bash
# What csr-export says, word for word.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
show csr-export tiny.csr out.mtx
show csr-export tiny.csr out.npz --json
show csr-export --list
show csr-export tiny.csr out.docx
