# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool, and says what its format takes.
needs_cuda
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
needs_gpu csr-spmv-gpu karate.csr --repeat 1
for kernel in $(csr-spmv-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])'); do
  # A vendor's kernel may promise less than we do.
  expect 0 csr-spmv-gpu karate.csr --kernel "$kernel" --repeat 2 --check=full --nondeterministic --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed)" True
done
expect 0 csr-spmv-gpu karate.csr --kernel sell --repeat 1
grep -q "bytes a nonzero" out || fail "no word of what the format takes"
expect 0 csr-spmm-gpu karate.csr -k 1 --repeat 1 --check=full
grep -q "spmv\." out || fail "one column of SpMM is not SpMV"
# An f32 matrix with f64 vectors, transposed, scaled.
expect 0 csr-spmv-gpu karate.csr --value-kind f32 --dense-kind f64 --transpose --alpha 2 --beta -1 --repeat 1 --check=full --json
equals "$(json check.passed)" True
