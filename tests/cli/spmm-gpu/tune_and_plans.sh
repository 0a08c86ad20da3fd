# shellcheck shell=bash
# --tune remembers, --save-plan keeps, --load-plan takes only what fits.
needs_cuda
# Refused before a GPU is looked for.
expect 2 csr-spmm-gpu karate.csr --tune t.json --kernel row_bins
expect 2 csr-spmm-gpu karate.csr --tune t.json --load-plan p
expect 2 csr-spmm-gpu karate.csr --load-plan p --kernel row_bins
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
csr-import "$DATASETS/lp_afiro.mtx" afiro.csr --quiet
needs_gpu csr-spmm-gpu karate.csr --repeat 1
run() { csr-spmm-gpu karate.csr -k 16 --repeat 2 --check=full --json "$@"; }
expect 0 run --tune tuned.json
tuned=$(json kernel)
[[ $(json choice) == "tuned: "*"was the fastest of "* ]] || fail "$(json choice)"
expect 0 run --tune tuned.json
equals "$(json kernel)" "$tuned"
[[ $(json choice) == "tuned: remembered in tuned.json"* ]] || fail "$(json choice)"
echo '{}' >other.json
expect 3 run --tune other.json
says "other.json: expected a file made by --tune"

# Those that give the same bits every time.
for kernel in $(csr-spmm-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"] if {"everything", "deterministic"} & set(row["can"].split())])'); do
  expect 0 run --kernel "$kernel" --save-plan kept.plan --output first.npy --force
  expect 0 run --load-plan kept.plan --output second.npy --force
  [[ $(json choice) == "plan of kept.plan"* ]] || fail "$(json choice)"
  if [ "$kernel" != gpu.spmm.auto ]; then equals "$(json kernel)" "$kernel"; fi
  cmp first.npy second.npy
done
# Another width, another matrix, damage: refused by name.
expect 2 run --load-plan kept.plan -k 32
expect 2 csr-spmm-gpu karate.csr -k 32 --load-plan kept.plan
says "dense_cols"
expect 2 csr-spmm-gpu afiro.csr -k 16 --load-plan kept.plan
says "matrix_xxh3_128"
# What another build kept could have the right size and mean something else.
grep -aqE '^build [0-9a-f]{32}$' kept.plan || fail "the plan does not say of which build it is"
head -c 100 kept.plan >cut.plan
expect 3 run --load-plan cut.plan
says "cut.plan: byte"
expect 4 run --load-plan nowhere.plan
