# shellcheck shell=bash
# The script that compares forecasts of the locality report with measured products, dry: on the CPU.
script=$CLI_FOLDER/../../run_scripts/pages/forecast_table.py
csr-import "$DATASETS/karate.mtx" before.csr --quiet
csr-reorder before.csr after.csr --method rcm --quiet
# Any profile serves; to measure one takes seconds, and fails on a machine that is too busy.
cp "$CLI_FOLDER/../soak/seeds/profile/cpu.json" here.json
csr-bench before.csr after.csr --kernels cpu.auto -k 4,8 --repeat 2 --records records.jsonl --quiet
expect 0 "$script" --machine here.json --records records.jsonl --device cpu before.csr after.csr
grep -qE '^\| before, after \| 4 \| [0-9.]+ -> [0-9.]+ \| [0-9.]+ -> [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [+-][0-9]+ % \|$' out ||
  { cat out >&2; fail "no row for 4 columns"; }
grep -qE '^[0-2] of 2 changes within 15 %, the furthest [0-9]+ % off\.$' out || fail "no summary"
expect 2 "$script" --machine here.json --records records.jsonl --device cpu before.csr
