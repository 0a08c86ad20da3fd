# shellcheck shell=bash
# One record per case, on disk before the next one; resumed, repaired, compared.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
bench() {
  csr-bench karate.csr tiny.csr --kernels cpu.auto,cpu.spmm.row_loop -k 1,8 --repeat 3 --warmup 0 \
    --records out.jsonl "$@"
}
lines() { wc -l <out.jsonl | tr -d ' '; }
expect 0 bench
equals "$(lines)" 8
python3 -c '
import json
for line in open("out.jsonl"):
    record = json.loads(line)
    assert record["status"] == "done" and record["check"]["passed"], record
    assert len(record["samples_seconds"]) == 3 and record["median_seconds"] > 0, record
    assert len(record["case"]["matrix_xxh3_128"]) == 32 and record["machine"]["cores"] >= 1, record
    assert record["command_line"][0] == "csr-bench", record'
# Resumed: nothing is left to do. Not resumed: everything again, appended.
expect 0 bench --resume --against cpu.row_loop
equals "$(lines)" 8
prints "speed against cpu.spmm.row_loop"
says "is in the records already"
# A record that a crash cut short is kept aside and made again.
head -c $(($(stat -c %s out.jsonl) - 20)) out.jsonl >cut.jsonl
tail -n 1 cut.jsonl >expected.cut
mv cut.jsonl out.jsonl
expect 0 csr-bench --verify out.jsonl --tolerance 1000000000 --attempts 1
says "out.jsonl:8: the last line was cut short; it is left out"
expect 0 bench --resume --json
says "out.jsonl:8: the last line was cut short"
says "out.jsonl.cut now"
cmp out.jsonl.cut expected.cut
equals "$(lines)" 8
equals "$(wc -l <out | tr -d ' ')" 1
python3 -c 'import json; [json.loads(line) for line in open("out.jsonl")]'
# A second cut does not replace the first; a record that lacks only its newline is complete.
head -c -20 out.jsonl >cut.jsonl
mv cut.jsonl out.jsonl
expect 0 bench --resume
says "out.jsonl.cut.2 now"
cmp out.jsonl.cut expected.cut
head -c -1 out.jsonl >whole.jsonl
mv whole.jsonl out.jsonl
cp out.jsonl before.jsonl
expect 0 csr-bench --verify out.jsonl --tolerance 1000000000 --attempts 1
prints "8 cases:"
cmp out.jsonl before.jsonl
expect 0 bench --resume
says "without its newline"
echo >>before.jsonl
cmp out.jsonl before.jsonl
no_file out.jsonl.cut.3
# Another case is not in the records.
expect 0 bench --resume --cold
equals "$(lines)" 16
expect 0 bench --warm --cold
equals "$(lines)" 32
# A kernel that cannot is recorded with its reason; the others go on.
expect 1 csr-bench karate.csr --kernels cpu.naive,cpu.auto -k 2 --repeat 1 --semiring min-plus \
  --records failed.jsonl
says "cpu.spmm.naive"
python3 -c '
import json
first, second = [json.loads(line) for line in open("failed.jsonl")]
assert first["status"] == "failed" and "semirings" in first["reason"], first
assert second["status"] == "done", second'
# Failed cases are tried again.
expect 1 csr-bench karate.csr --kernels cpu.naive,cpu.auto -k 2 --repeat 1 --semiring min-plus \
  --records failed.jsonl --resume
equals "$(wc -l <failed.jsonl | tr -d ' ')" 3
# What was never checked is measured again when a check is asked for, and then counts.
for round in "none 1" "none 1" "full 2" "auto 2" "full 2"; do
  read -r check expected <<<"$round"
  expect 0 csr-bench tiny.csr -k 2 --repeat 1 --records checks.jsonl --resume --check="$check"
  equals "$(wc -l <checks.jsonl | tr -d ' ')" "$expected"
done
# Log lines of a run without stderr stay out of the records.
expect 0 sh -c 'exec csr-bench tiny.csr -k 2 --repeat 1 --records checks.jsonl --resume 2>&-'
expect 0 csr-bench tiny.csr -k 2 --repeat 1 --records checks.jsonl --resume
expect 4 sh -c 'exec csr-bench tiny.csr -k 3 --repeat 1 --records checks.jsonl <&- >&- 2>&-'
expect 0 csr-bench tiny.csr -k 3 --repeat 1 --records checks.jsonl --resume
equals "$(wc -l <checks.jsonl | tr -d ' ')" 3
# Sparse products are cases like any other; dense columns make no difference to them.
expect 0 csr-bench karate.csr --kernels cpu.spgemm.auto,cpu.auto -k 2,4 --repeat 2 --records spgemm.jsonl
equals "$(wc -l <spgemm.jsonl | tr -d ' ')" 3
expect 0 csr-bench karate.csr --kernels cpu.spgemm.auto,cpu.auto -k 2,4 --repeat 2 --records spgemm.jsonl --resume
equals "$(wc -l <spgemm.jsonl | tr -d ' ')" 3
expect 0 csr-bench --verify spgemm.jsonl --tolerance 1000000000 --attempts 1
prints "3 cases:"
# Where they make no difference to any kernel, that is said.
unused='--dense-cols is for spmm and sddmm kernels, and --kernels has none: it is unused'
expect 0 csr-bench karate.csr --kernels cpu.spgemm.auto,cpu.spmv.auto -k 2,4 --repeat 1
says "$unused"
for words in 'cpu.spgemm.auto,cpu.sddmm.auto -k 2' cpu.spmv.auto 'cpu.spmv.auto -k 2 --quiet'; do
  # shellcheck disable=SC2086 # words are split on purpose
  expect 0 csr-bench karate.csr --repeat 1 --kernels $words
  grep -qF 'it is unused' err && fail "$words: it warns of columns"
done
csr-import "$DATASETS/lp_afiro.mtx" afiro.csr --quiet
expect 1 csr-bench afiro.csr --kernels cpu.spgemm.auto --repeat 1
expect 0 csr-bench afiro.csr --kernels cpu.spgemm.auto --repeat 1 --transpose
# What is no record file is left alone, whatever its last line is.
cp tiny.mtx other.txt
expect 3 csr-bench tiny.csr --records other.txt
says "other.txt:1"
cmp tiny.mtx other.txt
head -n 1 out.jsonl >with_notes.jsonl
printf 'my notes' >>with_notes.jsonl
for content in 'my notes' '{"name": "value"' '{"name": "value"}' '[{"schema":1}]' '{"schema":2}'; do
  printf '%s' "$content" >other.txt
  cp other.txt before.txt
  for option in --records --verify; do
    expect 3 csr-bench tiny.csr $option other.txt
    says "other.txt:1: expected a record of csr-bench"
    says "name a file that csr-bench --records wrote"
    cmp other.txt before.txt
  done
done
cp with_notes.jsonl before.jsonl
expect 3 csr-bench tiny.csr --records with_notes.jsonl
says "with_notes.jsonl:2: expected a record"
cmp with_notes.jsonl before.jsonl
cp tiny.csr before.csr
expect 2 csr-bench tiny.csr --records tiny.csr
says "the output 'tiny.csr' is the input 'tiny.csr' itself"
cmp tiny.csr before.csr
no_file other.txt.cut with_notes.jsonl.cut tiny.csr.cut
# A folder cannot be read, and a record that lacks what --verify needs cannot be measured again.
mkdir folder
expect 4 csr-bench --verify folder
says "cannot read 'folder'"
head -n 1 out.jsonl | sed 's/"seed":[0-9]*,//' >seedless.jsonl
expect 3 csr-bench --verify seedless.jsonl
says "seedless.jsonl:1: expected a record whose case can be measured again"
# Reports and messages go elsewhere than records, which they would overwrite.
expect 4 sh -c 'csr-bench tiny.csr --records /dev/stdout >shared.jsonl'
says "expected a file of its own for the records"
expect 4 sh -c 'csr-bench tiny.csr --records shared.jsonl 2>shared.jsonl'
cp shared.jsonl err
says "expected a file of its own for the records"
# Nor is a pipe or device read for earlier records.
mkfifo pipe
expect 4 csr-bench tiny.csr --records pipe
says "regular file"
# A record that does not fit leaves nothing of itself, and what came before it stays.
csr-bench tiny.csr -k 4 --repeat 2 --records full.jsonl --quiet
cp full.jsonl before.jsonl
room=$(($(wc -c <full.jsonl) / 1024 + 1)) # for a part of another
expect 4 bash -c "ulimit -f $room; exec csr-bench tiny.csr -k 5 --repeat 2 --records full.jsonl"
says "full.jsonl: cannot append a record: File too large"
says "raise ulimit -f, then go on with --resume"
cmp full.jsonl before.jsonl
# What an order cost travels with the matrix, as a phase beside the others.
csr-reorder karate.csr untimed.csr --method degree --quiet # under SOURCE_DATE_EPOCH: without times
env -u SOURCE_DATE_EPOCH csr-reorder karate.csr ordered.csr --method degree --quiet
expect 0 csr-bench karate.csr ordered.csr untimed.csr -k 4 --repeat 2 --records order.jsonl --quiet
python3 -c '
import json
natural, ordered, untimed = [json.loads(line) for line in open("order.jsonl")]
assert "reordering_seconds" not in untimed["phases"], untimed["phases"]
assert natural["phases"]["reordering_seconds"] == 0, natural["phases"]
assert ordered["phases"]["reordering_seconds"] == ordered["history"][-1]["order_seconds"] > 0, ordered'
