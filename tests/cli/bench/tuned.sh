# shellcheck shell=bash
# --tune measures once, remembers in the file, and refuses a file that is something else.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
bench() { csr-bench karate.csr -k 8 --repeat 2 --kernels cpu.auto,cpu.row_loop --tune tuned.json "$@"; }
expect 0 bench --json
grep -q '"choice":"tuned: .* was the fastest of ' out || { cat out >&2; fail "nothing was tuned"; }
cp tuned.json first.json
expect 0 bench --json
grep -q '"choice":"tuned: remembered in tuned.json' out || { cat out >&2; fail "not remembered"; }
cmp tuned.json first.json
expect 0 bench --cold
python3 -c '
import json
entries = json.load(open("tuned.json"))["entries"]
assert [entry["case"]["caches"] for entry in entries] == ["warm", "cold"], entries'
# Records of tuned rows and of others are different cases.
expect 0 bench --records out.jsonl
expect 0 csr-bench karate.csr -k 8 --repeat 2 --kernels cpu.auto,cpu.row_loop --records out.jsonl --resume
equals "$(wc -l <out.jsonl | tr -d ' ')" 3
# What is no cache is refused and left alone.
head -c 100 first.json >tuned.json
expect 3 bench
says "tuned.json: byte"
says "give --tune another name, or delete this file if --tune made it"
equals "$(stat -c %s tuned.json)" 100
expect 2 csr-bench karate.csr --kernels cpu.row_loop --tune tuned.json
expect 2 csr-bench karate.csr --tune both.json --records ./both.json
says "two outputs have the same name"
no_file both.json
mkdir folder
expect 4 csr-bench karate.csr --tune folder
says "folder"
