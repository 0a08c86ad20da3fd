# shellcheck shell=bash
# Every record is as docs/record.schema.json says, for every operation; records of schema 1 are still
# read by --verify, --resume and csr-report.
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import jsonschema' 2>/dev/null; then python=$candidate; fi
done
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --value-kind f32 --quiet
valid() { # valid FILE COUNT
  equals "$(wc -l <"$1" | tr -d ' ')" "$2"
  if [ -z "$python" ]; then return; fi
  "$python" - "$1" "$CLI_FOLDER/../../docs/record.schema.json" <<'EOF'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[2]))
jsonschema.Draft7Validator.check_schema(schema)
for number, line in enumerate(open(sys.argv[1]), 1):
    errors = list(jsonschema.Draft7Validator(schema).iter_errors(json.loads(line)))
    assert not errors, f"{sys.argv[1]}:{number}: {errors[0].json_path}: {errors[0].message}"
EOF
}
csr-bench --list --json >list
operations=$(python3 -c '
import json
print(*dict.fromkeys(row["kernel"].split(".")[1] for row in json.load(open("list"))["rows"]))')
count=0
for operation in $operations; do
  expect 0 csr-bench karate.csr --kernels "cpu.$operation.auto" -k 8 --repeat 3 --warm --cold --records out.jsonl
  count=$((count + 2))
  otherwise=--transpose
  if [ "$operation" = sddmm ]; then otherwise=--nondeterministic; fi # it has no transpose
  expect 0 csr-bench karate.csr --kernels "cpu.$operation.auto" -k 8 --repeat 3 --check=none --value-kind f64 \
    "$otherwise" --records out.jsonl
  count=$((count + 1))
done
expect 0 csr-bench karate.csr --kernels cpu.spgemm.auto --reuse --repeat 3 --records out.jsonl
expect 0 csr-bench karate.csr --kernels cpu.gather_mark -k 8 --repeat 3 --records out.jsonl
expect 0 csr-bench karate.csr --kernels cpu.auto -k 8 --repeat 3 --tune tuned.json --records out.jsonl
expect 1 csr-bench karate.csr --kernels cpu.naive -k 8 --repeat 3 --semiring min-plus --records out.jsonl
valid out.jsonl $((count + 4))
expect 0 csr-bench --verify out.jsonl --tolerance 1000000000 --attempts 1 --tune tuned.json --records verified.jsonl
valid verified.jsonl $((count + 3))

# Records of schema 1, of both operations, as if they were of this matrix and machine; what reads them.
python3 - "$CLI_FOLDER/../data/records/schema_1.jsonl" <<'EOF'
import json, sys
now = json.loads(open("out.jsonl").readline())["case"]
with open("old.jsonl", "w") as out:
    for line in open(sys.argv[1]):
        record = json.loads(line)
        record["case"].update({key: now[key] for key in ("cpu", "threads", "matrix_xxh3_128")})
        out.write(json.dumps(record) + "\n")
EOF
expect 0 csr-bench karate.csr --verify old.jsonl --tolerance 1000000000 --attempts 1 --records again.jsonl
prints "3 cases: 3 SAME"
valid again.jsonl 3
expect 0 csr-report old.jsonl --no-html --csv old.csv --json
equals "$(json cases)" 3
equals "$(python3 -c '
import csv
print(*[float(row["peak_bytes"]) > 0 for row in csv.DictReader(open("old.csv")) if row["kernel"].endswith(".auto")])')" "True True"
expect 0 csr-bench karate.csr --kernels cpu.auto -k 8 --repeat 5 --records old.jsonl --resume
says "is in the records already"
expect 0 csr-bench karate.csr --kernels cpu.spgemm.auto --reuse --repeat 5 --records old.jsonl --resume
says "is in the records already"
equals "$(wc -l <old.jsonl | tr -d ' ')" 4
if [ -z "$python" ]; then
  echo "the Python package jsonschema is missing: everything but the schema was tested"
  exit 6
fi
