# shellcheck shell=bash
# The script behind the ladder's table, dry: kernels of the CPU.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-bench karate.csr -k 8,32 --repeat 2 --kernels cpu.row_loop,cpu.auto --records out.jsonl --quiet
table=$CLI_FOLDER/../../run_scripts/pages/kernel_ladder_table.py
expect 0 "$table" out.jsonl --kernels cpu.spmm.
prints "| matrix | K | \`row_loop\` | \`auto\` |"
equals "$(grep -c '\*\*' out)" 2
expect 1 "$table" out.jsonl
echo '{}' >bad.jsonl
expect 1 "$table" bad.jsonl
# Two matrices of one name would share a row.
mkdir other
cp karate.csr other/
csr-bench other/karate.csr -k 8 --repeat 2 --kernels cpu.auto --records other.jsonl --quiet
expect 1 "$table" out.jsonl other.jsonl --kernels cpu.spmm.
grep -q "would have the row of" err || fail "it does not say which two"
expect 1 "$table" nowhere.jsonl
equals "$(cat err)" "nowhere.jsonl: No such file or directory; expected records of csr-bench --records"
# Compressed records are records, and half a file is not.
gzip -k out.jsonl
expect 0 "$table" out.jsonl.gz --kernels cpu.spmm.
prints "| matrix | K | \`row_loop\` | \`auto\` |"
head -c 50 out.jsonl.gz >half.jsonl.gz
expect 1 "$table" half.jsonl.gz
grep -q "half.jsonl.gz: .*; expected records of csr-bench" err || fail "it does not say what it expected"
