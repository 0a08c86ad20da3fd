# shellcheck shell=bash
# The main job: a graph on disk, imported, reordered by every method, multiplied, checked, measured.
csr-import "$DATASETS/pubmed.mtx.gz" graph.csr --self-loops=add --gcn-normalize --quiet
csr-info graph.csr --verify --quiet
expect 0 csr-spmm-cpu graph.csr -k 16 --seed 3 --repeat 2 --check=full
files=graph.csr
for method in $(csr-reorder --list --json | python3 -c '
import json, sys
print(*[row["name"] for row in json.load(sys.stdin)["rows"] if "NOT AVAILABLE" not in row["summary"]])'); do
  csr-reorder --force graph.csr "$method.csr" --method "$method" --quiet
  expect 0 csr-spmm-cpu "$method.csr" -k 16 --repeat 2 --check=full
  prints "ok, worst error"
  csr-reorder --force "$method.csr" back.csr --undo --quiet
  same_matrix graph.csr back.csr
  files="$files $method.csr"
done
# shellcheck disable=SC2086 # one word per file
expect 0 csr-bench $files --kernels cpu.auto -k 16 --repeat 3 --records records.jsonl
equals "$(wc -l <records.jsonl)" "$(echo "$files" | wc -w)"
