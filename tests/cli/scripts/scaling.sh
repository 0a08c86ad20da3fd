# shellcheck shell=bash
# scaling.py on threads of one process: every case once, a table, a picture; and what it refuses.
script=$CLI_FOLDER/../../run_scripts/scaling.py
cp "$CLI_FOLDER/../data/golden/rank_parts_f32.csr" parts.csr
expect 0 python3 "$script" parts.csr --out made --ranks 1,2,4 -k 4 --rounds 1 --repeat 2 --launcher threads
prints '| strong | rows | 4 | 4 |'
prints '| weak | columns | 2 | 8 |'
python3 - <<'END' || fail "the records"
import json
records = [json.loads(line) for line in open("made/scaling.jsonl")]
ways = {(r["scaling"], r["way"], r["ranks"]) for r in records}
assert ways == {("strong", way, n) for way in ("one process", "columns", "rows") for n in (1, 2, 4)} \
    | {("weak", "columns", n) for n in (1, 2, 4)}, ways
for r in records:
    assert r["median_seconds"] > 0 and (r["bytes"] > 0) == (r["way"] == "rows" and r["ranks"] > 1), r
END
grep -q '<svg' made/scaling.svg || fail "no picture"
expect 2 python3 "$script" parts.csr --out none --ranks 0
expect 2 python3 "$script" parts.csr --out none --ranks 1,2 --weak one.csr
no_file none
expect 1 python3 "$script" missing.csr --out none --ranks 1 --launcher threads
grep -q "cannot read 'missing.csr'" err || fail "it does not say why"
