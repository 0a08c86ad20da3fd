# shellcheck shell=bash
# The script behind the table of orderings, dry: a tiny graph with communities, and a rectangle.
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --values=random --quiet
script=$CLI_FOLDER/../../run_scripts/measure/reorder_table.py
tools=$(dirname "$(command -v csr-reorder)")
mkdir data
# Any profile serves; to measure one takes seconds, and fails on a machine that is too busy.
cp "$CLI_FOLDER/../soak/seeds/profile/cpu.json" here.json
run() { "$script" wide.csr --dry-run --tools "$tools" --work-dir work --records rows.jsonl --machine here.json "$@"; }
expect 0 run --data data
cp rows.jsonl all.jsonl
python3 -c '
import json
rows = {(row["kind"], row["graph"], row["order"]): row for row in map(json.loads, open("rows.jsonl"))}
def of(kind, order, graph="planted-0M"): return rows[kind, graph, order]
given, planted = of("locality", "as given"), of("locality", "as planted")
assert planted["distance"] < given["distance"], (planted, given)
assert of("locality", "community")["distance"] < 0.6 * given["distance"]
assert of("order", "community")["seconds"] > 0
for order in ("as given", "as planted", "community"):
    assert set(of("product", order)["seconds"]) == {"32", "256"}, order
assert set(of("advice", None)["recommended"]) == {"32", "256"}
refused = [row for row in rows.values() if "reason" in row]
assert all(row["graph"] == "wide" and row["order"].startswith("metis") for row in refused), refused'
grep -q "^planted-0M	.*	row-similarity	0" data/reordering.tsv || fail "the table is not in the data"
equals "$(grep -c "^\(wide\|planted-0M\)	" data/reordering_advice.tsv)" 4
grep -q "^# date: " data/reordering.tsv || fail "the data have no date"
# A run that was cut short goes on where it stopped, and one that is done adds nothing.
grep -v '"product"' all.jsonl >rows.jsonl
expect 0 run --data data
equals "$(sort rows.jsonl | cut -d: -f1-3)" "$(sort all.jsonl | cut -d: -f1-3)"
cp rows.jsonl all.jsonl
expect 0 run --seconds 60
equals "$(cat rows.jsonl)" "$(cat all.jsonl)"
# The tables can be made of the records alone; without time nothing is measured, and nothing breaks.
expect 0 "$script" --render --records rows.jsonl
prints "| planted-0M |"
grep -q "^Advice .* of 4 cases" out || fail "nobody judged the advice"
expect 0 "$script" --render --records rows.jsonl --data data
expect 0 "$script" --dry-run --tools "$tools" --work-dir other --records none.jsonl --seconds 0.001
expect 2 "$script" --render --records missing.jsonl
expect 2 "$script" --tools "$tools"
