# shellcheck shell=bash
# Ranks on GPUs, as many as wanted on the one that is there: refusals first, which need none.
csr-generate rmat small.csr --set scale=9 --quiet
csr-partition small.csr parts.csr --parts 2,4 --method blocks --quiet
expect 2 csr-spmm-dist parts.csr --device cuda
says "cpu, gpu"
expect 2 csr-spmm-dist parts.csr --exchange nccl
says "--exchange nccl is about GPUs; add --device gpu"
expect 2 csr-spmm-dist parts.csr --device gpu --exchange messages
says "--exchange messages is about processors; take nccl"
expect 2 csr-spmm-dist parts.csr --share-gpus
says "add --device gpu"
expect 2 csr-spmm-dist parts.csr --device gpu --exchange letters
says "auto, peer, nccl"
expect 2 csr-spmm-dist parts.csr --device gpu --all-gather --power 2
says "leave out --power"
needs_cuda
expect 2 csr-spmm-dist parts.csr --device gpu --kernel nix
says "there is no kernel 'nix'"
needs_gpu csr-spmm-dist parts.csr --device gpu --repeat 1
csr-partition small.csr split.csr --parts 2,4 --method blocks --split-hubs 50 --quiet
expect 2 csr-spmm-dist split.csr --device gpu --ranks 2 --grid 2x1 --share-gpus --all-gather --output no.npy
says "--all-gather needs whole rows, and 'split.csr' splits some among its parts"
no_file no.npy

# One GPU for four ranks is not enough, unless it is asked for; NCCL never takes it.
if [ "$(nvidia-smi --list-gpus | wc -l)" -lt 4 ]; then
  expect 2 csr-spmm-dist parts.csr --device gpu --ranks 4
  says "share the GPU"
  expect 2 csr-spmm-dist parts.csr --device gpu --ranks 4 --grid 4x1 --share-gpus --exchange nccl
  says "NCCL needs a GPU for each rank"
fi

# Every grid, of whole rows and of split ones: checked, and the bytes that the forecast counts.
for case in "parts 2x1" "parts 4x1" "parts 2x2" "parts 1x4" "split 2x1" "split 4x1" "split 2x2"; do
  read -r file grid <<<"$case"
  ranks=$((${grid%x*} * ${grid#*x}))
  csr-spmm-dist "$file.csr" --device gpu --share-gpus --ranks $ranks --grid "$grid" -k 24 --check --repeat 2 --json >run.json
  csr-forecast "$file.csr" --ranks $ranks --profile h200x4 -k 24 --json >forecast.json
  python3 - "$grid" "$file" <<'PYTHON' || fail "$case"
import json, sys
parts, groups = map(int, sys.argv[1].split("x"))
run, forecast = (json.load(open(name)) for name in ("run.json", "forecast.json"))
grid = next(g for g in forecast["grids"] if (g["row_parts"], g["column_groups"]) == (parts, groups))
assert run["bytes"] == {"total": grid["moved_bytes"], "worst_rank": grid["worst_received_bytes"]}, (run["bytes"], grid)
assert max(rank["bytes_sent"] for rank in run["ranks"]) == grid["worst_sent_bytes"]
assert run["kernel"] == "gpu.spmm.auto" and all("gpu" in rank for rank in run["ranks"])
assert any(rank["sums_received"] for rank in run["ranks"]) == (sys.argv[2] == "split"), run["ranks"]
PYTHON
done

# The baseline: all of B to everybody, then cuSPARSE.
csr-spmm-dist parts.csr --device gpu --share-gpus --ranks 4 --grid 4x1 -k 24 --check --repeat 2 --json \
  --all-gather --kernel vendor_cusparse --nondeterministic >run.json
python3 -c 'import json; run = json.load(open("run.json")); assert run["bytes"]["total"] == 3 * 512 * 24 * 4, run["bytes"]'

# Powers stay in place: the file is that of the same grid on processors, which round as well or better.
for case in "parts 1" "parts 2" "parts 3" "split 1" "split 3"; do
  read -r file power <<<"$case"
  csr-spmm-dist "$file.csr" --device gpu --share-gpus --ranks 4 --grid 4x1 -k 8 --power "$power" --check --repeat 1 \
    --output gpu.npy --force --quiet
  csr-spmm-dist "$file.csr" --device gpu --share-gpus --ranks 4 --grid 4x1 -k 8 --power "$power" --repeat 3 \
    --output again.npy --force --quiet
  cmp gpu.npy again.npy || fail "$file, power $power: other bits the second time"
done
