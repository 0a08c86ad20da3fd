# shellcheck shell=bash
# What csr-report says about known records, word for word.
cp "$CLI_FOLDER/../data/records/two_kernels.jsonl" records.jsonl
show csr-report records.jsonl --no-html --markdown table.md
show cat table.md
show csr-report records.jsonl --no-html --json
show csr-report --list
show csr-report records.jsonl --kernel gpu.spmm.auto
