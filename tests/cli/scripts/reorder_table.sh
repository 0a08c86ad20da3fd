# shellcheck shell=bash
# The script behind the table of orderings, dry: a tiny graph with communities, and a rectangle.
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --values=random --quiet
script=$CLI_FOLDER/../../run_scripts/reorder_table.py
tools=$(dirname "$(command -v csr-reorder)")
cat >page.md <<'END'
before
<!-- table: begin -->
old
<!-- table: end -->
after
END
expect 0 "$script" wide.csr --dry-run --tools "$tools" --work-dir work --records rows.jsonl --page page.md
python3 -c '
import json
rows = [json.loads(line) for line in open("rows.jsonl")]
of = {(row["graph"], row["method"]): row for row in rows}
given, planted = of["planted-0M", "as given"], of["planted-0M", "as planted"]
assert planted["distance"] < given["distance"], (planted, given)
community = of["planted-0M", "community"]
assert community["distance"] < 0.6 * given["distance"] and community["order_seconds"] > 0, community
assert set(community["break_even"]) == {"32", "256"}, community
refused = [row for row in rows if "reason" in row]
assert all(row["graph"] == "wide" and row["method"].startswith("metis") for row in refused), refused'
grep -q "^| wide | row-similarity |" page.md || fail "the table is not in the page"
if grep -q "^old$" page.md; then fail "the old table is still in the page"; fi
equals "$(head -1 page.md) $(tail -1 page.md)" "before after"
expect 2 "$script" --tools "$tools"
