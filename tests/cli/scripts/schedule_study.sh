# shellcheck shell=bash
# The study of schedules, dry: a table, records that csr-report takes, and an end in order.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
study=$CLI_FOLDER/../../run_scripts/measure/schedule_study.py
bin=$(dirname "$(command -v csr-spmm-cpu)")
expect 0 "$study" karate.csr --bin "$bin" -k 8 --threads 1,2 --repeat 2 --rungs unrolled:8 --records study.jsonl
prints "| karate | 8 | 2 | \`unrolled:8\` |"
equals "$(wc -l <study.jsonl | tr -d ' ')" 17
expect 0 csr-report study.jsonl --no-html --markdown table.md
grep -q '| karate | 8 | 1 | naive | - |' table.md || fail "the naive loops are not in the report"
grep -qE '\| karate \| 8 \| 2 \| unrolled:8 \| (static|dynamic|guided).* [0-9.]+ \|$' table.md || fail "the report has no speed over naive"
expect 0 "$study" karate.csr --bin "$bin" --seconds 0.0001 --rungs unrolled:8
grep -q 'out of time' err || fail "it does not say that time was up"
