# shellcheck shell=bash
# Every JSON that a tool prints says which form it has, first of all.
csr-generate poisson grid.csr --set nx=9 --value-kind f64 --quiet
csr-bench grid.csr -k 2 --repeat 1 --warmup 0 --records bundle.jsonl --quiet

has_schema() { # has_schema NUMBER COMMAND...
  local number=$1
  shift
  expect 0 "$@" --json
  python3 - "$number" <<'END' || fail "no schema: $*"
import json, sys
for line in open("out"):
    assert next(iter(json.loads(line).items())) == ("schema", int(sys.argv[1])), line[:99]
END
}
for tool in $(all_tools); do
  case $tool in
    *-gpu) continue ;; # they need one
    csr-bench) has_schema 2 csr-bench grid.csr -k 2 --repeat 1 --warmup 0 ;;
    csr-density) has_schema 1 csr-density grid.csr ;;
    csr-export) has_schema 1 csr-export grid.csr copy.mtx ;;
    csr-forecast) has_schema 1 csr-forecast grid.csr ;;
    csr-generate) has_schema 1 csr-generate rmat rmat.csr --set scale=5 ;;
    csr-import) has_schema 1 csr-import "$DATASETS/karate.mtx" karate.csr ;;
    csr-info) has_schema 1 csr-info grid.csr ;;
    csr-partition) has_schema 1 csr-partition grid.csr ranked.csr --parts 2 --method blocks ;;
    csr-probe) has_schema 1 csr-probe --output m.json --device cpu --max-table 1M --seconds 1 --max-spread 100000 -k 8 --threads 1 ;;
    csr-reorder) has_schema 1 csr-reorder grid.csr new.csr --method rcm ;;
    csr-report) has_schema 1 csr-report bundle.jsonl --no-html ;;
    *) has_schema 1 "$tool" grid.csr --repeat 1 ;;
  esac
done
for mode in --verify --header-only --locality --provenance --python; do has_schema 1 csr-info grid.csr "$mode"; done
