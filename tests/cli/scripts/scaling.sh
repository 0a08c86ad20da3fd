# shellcheck shell=bash
# scaling.py on threads of one process: every case once, a table, a picture; and what it refuses.
script=$CLI_FOLDER/../../run_scripts/measure/scaling.py
cp "$CLI_FOLDER/../data/golden/rank_parts_f32.csr" parts.csr
expect 0 python3 "$script" parts.csr --out made --ranks 1,2,4 -k 4 --rounds 1 --repeat 2 --launcher threads
prints '| strong | rows | 4 | 4 |'
prints '| weak | columns | 2 | 8 |'
python3 - <<'END' || fail "the records"
import json
records = [json.loads(line) for line in open("made/scaling.jsonl")]
ways = {(r["scaling"], r["way"], r["ranks"]) for r in records}
assert ways == {("strong", way, n) for way in ("one process", "columns", "rows") for n in (1, 2, 4)} \
    | {("weak", "columns", n) for n in (1, 2, 4)} | {("strong", "rows, messages", n) for n in (2, 4)}, ways
for r in records:
    assert r["median_seconds"] > 0 and (r["bytes"] > 0) == (r["way"].startswith("rows") and r["ranks"] > 1), r
END
grep -q '<svg' made/scaling.svg || fail "no picture"
# Forecasts of this machine, from what csr-probe measured.
csr-probe -o core.json --device cpu --threads 1 --max-table 1M --seconds 1 --max-spread 100000 --quiet
expect 0 python3 "$script" parts.csr --out forecast --ranks 1,2 -k 4 --rounds 1 --repeat 2 --launcher threads --machine core.json
prints '2 ranks: fastest by forecast '
python3 - <<'END' || fail "the forecasts in the records"
import json, subprocess
grids = json.loads(subprocess.run(["csr-forecast", "parts.csr", "--ranks", "1,2", "-k", "4", "--profile", "forecast/profile.json",
                                   "--json"], check=True, capture_output=True).stdout)["grids"]
said = {(g["ranks"], g["row_parts"]): g["seconds"] for g in grids}
for line in open("forecast/scaling.jsonl"):
    r = json.loads(line)
    parts = {"columns": 1, "rows": r["ranks"]}.get(r["way"])
    wanted = said[r["ranks"], parts] if r["scaling"] == "strong" and parts else None
    assert r["forecast_seconds"] == wanted, (r, wanted)
END
expect 2 python3 "$script" parts.csr --out none --ranks 1 --machine core.json --profile cluster
expect 2 python3 "$script" parts.csr --out none --ranks 0
expect 2 python3 "$script" parts.csr --out none --ranks 1,2 --weak one.csr
no_file none
expect 2 python3 "$script" parts.csr --out none --device gpu --share-gpus --launcher mpirun
expect 1 python3 "$script" missing.csr --out none --ranks 1 --launcher threads
grep -q "cannot read 'missing.csr'" err || fail "it does not say why"

# On GPUs, all ranks on the one that is there: both ways of exchange as far as they can be gone, and the baseline.
has_gpu_code || exit 0
code=0
csr-spmm-dist parts.csr --device gpu --repeat 1 --quiet 2>why || code=$?
if [ $code -eq 6 ]; then exit 0; fi
expect 0 python3 "$script" parts.csr --out gpus --ranks 1,2,4 -k 4 --rounds 1 --repeat 2 --launcher threads --kind f32 \
  --device gpu --share-gpus
prints '| strong | all-gather, cuSPARSE | 4 | 4 |'
prints '| strong | rows, peer | 2 | 4 |'
