# shellcheck shell=bash
# Records with the names that kernels had before are records of these kernels.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
expect 0 csr-bench karate.csr -k 8 --repeat 2 --kernels cpu.unrolled:8,cpu.unrolled --records now.jsonl
prints "cpu.spmm.unrolled:8"
sed 's/"cpu.spmm.unrolled:8"/"cpu.spmm.unrolled_8"/' now.jsonl >before.jsonl
grep -q unrolled_8 before.jsonl || fail "nothing was renamed"
expect 0 csr-bench --verify before.jsonl --tolerance 1000000000 --attempts 1
prints "cpu.spmm.unrolled:8"
expect 0 csr-bench karate.csr -k 8 --repeat 2 --kernels cpu.unrolled:8 --records before.jsonl --resume
says "is in the records already"
equals "$(wc -l <before.jsonl | tr -d ' ')" 2
expect 0 csr-report before.jsonl --no-html --markdown page.md --kernel cpu.spmm.unrolled:8
grep -q "csrkit's \`cpu.spmm.unrolled:8\`" page.md || fail "the report does not know the old name"
# The tools and the report have the same table.
renamed() { sed -nE 's/^ *[{]?"([a-z0-9_.]+)"[:,] "([a-z0-9_.:]+)"[},]+$/\1 \2/p' "$CLI_FOLDER/../../$1"; }
renamed tools/bench/renamed_kernels.cpp >cpp
renamed tools/report/case.py >python
equals "$(wc -l <cpp | tr -d ' ')" 6
diff cpp python >&2 || fail "the two tables of renamed kernels differ"
# A width that is none, and a kernel without variants.
expect 1 csr-bench karate.csr -k 8 --repeat 2 --kernels cpu.unrolled:9
says "use 4, 8, 16 or 32"
expect 2 csr-bench karate.csr --kernels cpu.row_loop:8
says "has none"
expect 2 csr-spmm-cpu karate.csr -k 8 --kernel unrolled --variant 9
says "use 4, 8, 16 or 32"
