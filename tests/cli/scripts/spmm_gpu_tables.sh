# shellcheck shell=bash
# The script behind the GPU tables, dry: kernels of the CPU on tiny matrices.
mkdir real made
csr-import "$DATASETS/karate.mtx" real/karate.csr --values=random --quiet
csr-import "$DATASETS/lp_afiro.mtx" made/ddi.csr --quiet
script=$CLI_FOLDER/../../run_scripts/measure/spmm_gpu_tables.sh
tables() {
  "$script" --value-kind f32 --real real --stand-ins made --out tables --tools "$(dirname "$(command -v csr-bench)")" \
    -k 8,32 --repeat 2 --ours cpu.auto --vendor cpu.row_loop "$@"
}
expect 0 tables --marks ""
prints "| karate | 156 | 8 |"
prints "| ddi (stand-in) |"
prints "Caches cold:"
prints "| real | warm | all | 2 |"
python3 -c '
import json
table = json.load(open("tables/table.json"))
rows, means = table["rows"], table["means"]
assert len(rows) == 8 and len(means) == 12, (len(rows), len(means))
for row in rows:
    speed, low, high = row["speedup_interval"]
    assert row["speedup"] == speed and 0 < low <= speed <= high, row
    assert row["share_of_mark"] is None and row["share_of_bandwidth_limit"] > 0, row
known = [row for row in rows if row["code_name"]]
assert [(row["matrix"], row["dense_cols"], row["caches"]) for row in known] == [("ddi", 32, "warm")], known'
# A mark is a row like any other; a second run measures only what is new.
expect 0 tables --marks cpu.simd
equals "$(wc -l <tables/real.jsonl | tr -d ' ')" 12
python3 -c '
import json
for row in json.load(open("tables/table.json"))["rows"]:
    assert abs(row["share_of_mark"] - row["mark_seconds"] / row["seconds"]) < 1e-9, row'
# What went wrong is named, and is no row.
python3 - <<'PYTHON'
import json
records = [json.loads(line) for line in open("tables/real.jsonl")]
for record in records:
    if record["case"]["kernel"] == "cpu.spmm.auto" and record["case"]["dense_cols"] == 8:
        record["check"] = None
open("unchecked.jsonl", "w").writelines(json.dumps(record) + "\n" for record in records)
PYTHON
expect 1 "$CLI_FOLDER/../../run_scripts/pages/spmm_gpu_table.py" real=unchecked.jsonl --ours cpu.spmm.auto \
  --vendor cpu.spmm.row_loop --marks ""
grep -qF "karate/8/warm" err || fail "the unchecked case is not named"
expect 2 "$script"
# A time that is too short is said; what is recorded makes a table all the same.
expect 143 tables --out short --within 0
grep -qF "nothing could be measured" err || fail "not a word of what is left"
expect 143 tables --marks "" --within 0
prints "| karate | 156 | 8 |"
