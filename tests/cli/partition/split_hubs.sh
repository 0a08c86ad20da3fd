# shellcheck shell=bash
# A row beyond a part's share: split, parts are balanced and move little; products are right and the same every time.
csr-generate arrow arrow.csr --set n=4000 --quiet
csr-generate rmat power.csr --set scale=11 --quiet
expect 0 csr-partition arrow.csr whole.csr --parts 2,4,16 --method blocks --json
equals "$(json split_rows) $(json rows_beyond_a_share)" "0 1"
expect 0 csr-partition arrow.csr whole.csr --parts 2,4,16 --method blocks --force
prints "--split-hubs auto shares them out"
methods="blocks community stream"
if ! csr-reorder --list | grep -q "NOT AVAILABLE"; then methods="$methods metis"; fi
for method in $methods; do
  expect 0 csr-partition arrow.csr "$method.csr" --parts 2,4,16 --method "$method" --split-hubs auto --json
  python3 - <<'END' || fail "$method"
import json
record = json.load(open("out"))
assert record["split_rows"] == 1 and record["rows_beyond_a_share"] == 0, record
for level in record["levels"]:
    assert level["imbalance"] < 1.35 and 0 < level["sums"] < level["parts"], level
    plain = level["plain_blocks"]
    assert "sums" not in plain and level["halo_cols"] + level["sums"] < 0.5 * plain["halo_cols"], level
END
  csr-info "$method.csr" --verify --quiet
  expect 0 csr-info "$method.csr" --json
  equals "$(json levels.0.sums)" 1
  for grid in 4x1 2x2 16x1; do
    ranks=$((${grid%x*} * ${grid#*x}))
    expect 0 csr-spmm-dist "$method.csr" -k 6 --ranks $ranks --grid $grid --threads 1 --check --repeat 1 --warmup 0 \
      --output "c.$grid.npy" --force --json
    python3 - <<'END' || fail "$method, grid $grid"
import json
record = json.load(open("out"))
parts = {rank["part"]: rank for rank in record["ranks"]}.values()
entries = sum(rank["own_entries"] + rank["halo_entries"] + rank["piece_entries"] for rank in parts)
assert entries == record["nnz"], (entries, record["nnz"])
END
    expect 0 csr-spmm-dist "$method.csr" -k 6 --ranks $ranks --grid $grid --threads 2 --repeat 1 --warmup 0 \
      --output again.npy --force
    cmp "c.$grid.npy" again.npy || fail "$method, grid $grid: not the same bits"
  done
done
expect 0 csr-partition power.csr power.parts --parts 2,8 --method blocks --split-hubs 100 --json
if [ "$(json split_rows)" -lt 10 ]; then fail "too few rows split: $(json split_rows)"; fi
expect 0 csr-spmm-dist power.parts -k 5 --ranks 8 --grid 8x1 --threads 1 --check --power 2

# A sparse product needs whole rows: its blocks are others, or it refuses.
expect 0 csr-spgemm-dist power.parts --ranks 2 --threads 1 --repeat 1 --warmup 0 --check --json
equals "$(json blocks)" products
expect 2 csr-spgemm-dist power.parts --ranks 2 --blocks file --output no.csr
says "splits rows among its parts"
no_file no.csr
expect 0 csr-forecast power.parts --operation spgemm --ranks 2 --json
equals "$(python3 -c 'import json; print(*[row["blocks_from"] for row in json.load(open("out"))["blocks"]])')" products

# What moves rows leaves the parts out, split rows with them.
expect 0 csr-reorder power.parts moved.csr --method random
expect 0 csr-info moved.csr --json
if grep -q split_rows out; then fail "split rows of rows that have moved"; fi
for bad in 0 -3 nix 1.5; do
  expect 2 csr-partition arrow.csr no.csr --parts 2 --method blocks --split-hubs $bad
  says "--split-hubs is '$bad'; it must be a whole number from 1 to 2147483647, or auto"
  no_file no.csr
done
