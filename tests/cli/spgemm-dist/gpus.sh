# shellcheck shell=bash
# Ranks on GPUs: refusals, which need none; then C as one rank on processors makes it, bits aside.
csr-generate rmat graph.csr --set scale=10 --seed 3 --quiet
expect 2 csr-spgemm-dist graph.csr --device abacus
says "cpu, gpu"
expect 2 csr-spgemm-dist graph.csr --share-gpus
says "add --device gpu"
needs_cuda
expect 2 csr-spgemm-dist graph.csr --device gpu --kernel nix
says "there is no kernel 'nix'"
needs_gpu csr-spgemm-dist graph.csr --device gpu --repeat 1
csr-partition graph.csr parts.csr --parts 2 --method blocks --quiet
csr-spgemm-dist graph.csr --repeat 1 --output whole.csr --value-kind none --quiet # sums of ones: exact
for ranks in 1 2 3; do
  for file in graph parts; do
    expect 0 csr-spgemm-dist $file.csr --device gpu --share-gpus --ranks $ranks --repeat 1 --check --value-kind none --output c.csr --json
    equals "$(json kernel)" gpu.spgemm.auto
    same_matrix c.csr whole.csr
    python3 - "$ranks" <<'PYTHON' || fail "$file on $ranks ranks"
import json, sys
run = json.load(open("out"))
assert run["exchange"] == "in place" and run["bytes"] == {"total": 0, "worst_rank": 0}, run["bytes"]
b = 8 * (run["rows"] + 1) + 4 * sum(rank["entries"] for rank in run["ranks"])
for rank in run["ranks"]:
    assert rank["phases"]["product_seconds"] > 0 and rank["phases"]["fetch_seconds"] == 0, rank
    a = 8 * (rank["rows"] + 1) + 4 * rank["entries"]
    assert rank["uploaded_bytes"] == (b if sys.argv[1] == "1" else a + b), (rank, a, b)
    assert rank["downloaded_bytes"] == 8 * (rank["rows"] + 1) + 8 * rank["output_nnz"], rank
PYTHON
    rm c.csr
  done
done
if [ "$(nvidia-smi --list-gpus | wc -l)" -lt 2 ]; then
  expect 2 csr-spgemm-dist graph.csr --device gpu --ranks 2
  says "share the GPU"
fi
