# shellcheck shell=bash
# Tables and pictures of the studies of GPU kernels, from made-up records.
studies=$CLI_FOLDER/../../run_scripts/pages/gpu_studies.py
product() { # product MAPPING PER_LANE TILE SECONDS
  printf '{"matrix": "a", "rows": 9, "nnz": 1000000, "k": 32, "mapping": "%s", "per_lane": %s, "tile": %s, "seconds": [%s]}\n' "$@"
}
{
  product strided 1 0 "1e-4, 2e-4, 9e-4"
  product strided 2 0 1e-4
  product adjacent 2 0 4e-4
  product tiled 1 32 1e-3
} >lanes.jsonl
expect 0 "$studies" lanes lanes.jsonl
prints "$(printf 'a\t32\t320\t640\t-\t-\t160\t-')"
expect 0 "$studies" tiles lanes.jsonl
prints "$(printf 'a\t32\t1\t320\t-\t-\t64.0')"
expect 0 "$studies" lanes lanes.jsonl --widths 64
equals "$(wc -l <out)" 1
printf '{"distribution": "one_huge_row", "size": 2000000, "sort": "%s", "load": 0, "seconds": [%s]}\n' bucket 1e-3 sample 2e-3 >sorts.jsonl
expect 0 "$studies" sorts sorts.jsonl
prints "$(printf '2,000,000\tone huge row\t2,000\t1,000')"
expect 1 "$studies" sorts lanes.jsonl
grep -q "lanes.jsonl:1: not a record with size, distribution, sort and seconds" err || fail "it does not say which line"
expect 2 "$studies" others lanes.jsonl
python=$(python_with matplotlib.font_manager) || { echo "no Python with Matplotlib"; exit 6; }
expect 0 "$python" "$studies" sorts sorts.jsonl --picture sorts.svg
grep -q '<svg' sorts.svg || fail "no picture"
expect 2 "$python" "$studies" sorts sorts.jsonl --picture sorts.svg
expect 0 "$python" "$studies" sorts sorts.jsonl --picture sorts.svg --force
expect 0 "$python" "$studies" lanes lanes.jsonl --picture lanes.svg
grep -q '<svg' lanes.svg || fail "no picture"
