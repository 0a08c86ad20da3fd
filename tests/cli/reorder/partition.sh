# shellcheck shell=bash
# A partition travels with its cut and halos; METIS ends at its time limit.
if csr-reorder --list | grep -q "NOT AVAILABLE"; then
  csr-import --force "$DATASETS/karate.mtx" karate.csr --quiet
  expect 2 csr-reorder karate.csr parts.csr --method metis-partition
  says "built without METIS"
  exit 0
fi
csr-import "$DATASETS/cora.mtx.gz" cora.csr --quiet
for inside in keep degree rcm; do
  expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition --parts 8 --inside $inside --json
  equals "$(json parts)" 8
  cut=$(json cut_entries)
  if [ "$cut" -le 0 ] || [ "$cut" -ge 4000 ]; then fail "8 parts of cora cut $cut of 10556 entries"; fi
  python3 -c '
import json, sys
out = json.load(open("out"))
assert 1 <= out["balance"] < 1.2 and out["halo_largest"] * 8 >= out["halo_sum"], out'
  expect 0 csr-info parts.csr --json
  equals "$(json parts)" 8
  equals "$(json cut_entries)" "$cut"
  csr-info parts.csr --verify --quiet
  # Another order of all: the parts and what lies between them stay what they are.
  csr-reorder --force parts.csr mixed.csr --method random --quiet
  expect 0 csr-info mixed.csr --json
  equals "$(json cut_entries)" "$cut"
done
expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition --cache-size 64K --dense-cols 32 --json
equals "$(json parts)" 6 # 512 rows each
expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition --parts 2708 --json
equals "$(json parts)" 2708 # a part for each row
for parts in 2709 99999999; do
  expect 2 csr-reorder cora.csr fresh.csr --method metis-partition --parts $parts
  says "parts is $parts, and the matrix has 2708 rows; there can be no more parts than rows"
done
no_file fresh
expect 2 csr-reorder cora.csr fresh.csr --method community --time-limit 5
expect 2 csr-reorder cora.csr fresh.csr --method community --inside rcm
# One part, where all of B fits the cache, is said; not if it was asked for.
expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition
says "one part"
expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition --parts 1
grep -q "one part" err && fail "said what was asked for"
expect 0 csr-reorder --force cora.csr parts.csr --method metis-partition --sides=cols
grep -q "one part" err && fail "said of an order that leaves no parts"
# Fewer than two rows have no other order that more parts could make.
for rows in 0 1; do
  csr-generate erdos-renyi few.csr --set rows=$rows --set cols=$rows --set nnz=$rows --force --quiet
  expect 0 csr-reorder --force few.csr parts.csr --method metis-partition
  silent err
done
expect 2 csr-reorder cora.csr fresh.csr --method metis-partition --parts 3 --cache-size 1M
expect 2 csr-reorder cora.csr fresh.csr --method metis-partition --inside heap
expect 2 csr-reorder cora.csr fresh.csr --method metis-nested-dissection --time-limit 0
csr-generate rmat big.csr --set scale=14 --value-kind none --quiet
expect 70 csr-reorder --force big.csr fresh.csr --method metis-partition --parts 100 --time-limit 0.001
says "time limit of 0.001 seconds"
no_file fresh
# A refusal has the shape of the file, also where columns move.
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --quiet
for sides in rows cols; do
  expect 2 csr-reorder wide.csr no.csr --method metis-partition --sides=$sides
  says "this one is 27 x 51"
done
