# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --value-kind f64 --quiet
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
kernels=$(csr-spgemm-cpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"] if row["role"] != "vendor"])')
for kernel in $kernels; do
  expect 0 csr-spgemm-cpu karate.csr --kernel "$kernel" --repeat 2 --warmup 0 --check=full --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed) $(json check.sampled)" "True False"
  equals "$(json c.nnz)" 698
  expect 0 csr-spgemm-cpu tiny.csr --kernel "${kernel##*.}" --repeat 1 --check --transpose-b \
    --alpha=-0.5 --reuse
done
for kernel in $(csr-spgemm-cpu --list | grep -o 'cpu\.spgemm\.vendor_[a-z]*'); do
  expect 0 csr-spgemm-cpu karate.csr --kernel "$kernel" --repeat 2 --warmup 0 --check=full --json
  equals "$(json check.passed) $(json c.nnz)" "True 698"
  expect 0 csr-spgemm-cpu tiny.csr --kernel "$kernel" --repeat 1 --check --transpose-b
  expect 2 csr-spgemm-cpu karate.csr --kernel "$kernel" --alpha 2
done
for kind in none f32 f64 f16 bf16; do
  expect 0 csr-spgemm-cpu karate.csr --value-kind $kind --repeat 1 --check
done
for semiring in plus-times min-plus max-times or-and; do
  expect 0 csr-spgemm-cpu tiny.csr --semiring $semiring --repeat 1 --check
done
expect 0 csr-spgemm-cpu karate.csr --cold --repeat 2 --check=sampled
prints cold
prints " rows and a projection)"
expect 0 csr-spgemm-cpu karate.csr --mask karate.csr --repeat 1 --check=sampled
prints " rows, a sample)"
expect 2 csr-spgemm-cpu karate.csr --kernel naive_rows --semiring min-plus
says semirings
expect 2 csr-spgemm-cpu karate.csr --kernel pigeon
says adaptive_rows
expect 2 csr-spgemm-cpu karate.csr --forecast --check
