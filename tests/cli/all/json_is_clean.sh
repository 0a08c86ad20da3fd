# shellcheck shell=bash
# In a pipe, stdout is JSON and nothing else; without --json nothing speaks on stderr either.
tiny_mtx >tiny.mtx
python='import json, sys; json.load(sys.stdin)'
csr-import tiny.mtx tiny.csr --json 2>err | python3 -c "$python"
silent err
csr-generate dense dense.csr --set rows=8 --json 2>err | python3 -c "$python"
silent err
csr-info tiny.csr --json | python3 -c "$python"
csr-info tiny.csr --json --header-only | python3 -c "$python"
csr-info tiny.csr --json --provenance | python3 -c "$python"
csr-info tiny.csr --json --verify | python3 -c "$python"
csr-info tiny.csr --json --python | python3 -c "$python"
csr-reorder tiny.csr moved.csr --method degree --json 2>err | python3 -c "$python"
silent err
csr-export moved.csr moved.mtx --json 2>err | python3 -c "$python"
silent err
csr-spmm-cpu tiny.csr -k 4 --repeat 2 --check --json 2>err | python3 -c "$python"
silent err
csr-spgemm-cpu tiny.csr --repeat 2 --check --json 2>err | python3 -c "$python"
silent err
csr-bench tiny.csr -k 1,2 --repeat 2 --json 2>err >lines
silent err
equals "$(wc -l <lines)" 2
python3 -c 'import json; [json.loads(line) for line in open("lines")]'
# --quiet says nothing at all.
expect 0 csr-import tiny.mtx quiet.csr --quiet
silent out
silent err
# File names that are no UTF-8 still make JSON.
cp tiny.csr "$(printf 'na\377me.csr')"
csr-info "$(printf 'na\377me.csr')" --json | python3 -c "$python"
# A reader that leaves early is no error message.
(csr-generate --list 2>err || true) | head -n 1 >/dev/null
silent err
