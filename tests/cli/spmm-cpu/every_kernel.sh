# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --value-kind f64 --quiet
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
kernels=$(csr-spmm-cpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"] if row["role"] != "vendor"])')
for kernel in $kernels; do
  expect 0 csr-spmm-cpu karate.csr --kernel "$kernel" -k 9 --repeat 2 --warmup 0 --check=full --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed) $(json check.sampled)" "True False"
  expect 0 csr-spmm-cpu tiny.csr --kernel "${kernel##*.}" -k 3 --repeat 1 --check --transpose \
    --alpha=-0.5 --beta=2
done
# Marks make no product: csr-bench measures them, the tool that makes one refuses them.
for width in 1 40 64 65 130; do
  expect 0 csr-bench karate.csr --kernels cpu.gather_mark,cpu.random_gather_mark -k $width --repeat 2
done
expect 2 csr-spmm-cpu karate.csr --kernel gather_mark -k 3 --check=full --output c.npy
says "csr-bench --kernels cpu.spmm.gather_mark"
no_file c.npy
expect 0 csr-spmm-cpu --list
if grep -q mark out; then fail "the list has marks"; fi
for kernel in $(csr-spmm-cpu --list | grep -o 'cpu\.spmm\.vendor_[a-z]*'); do
  expect 0 csr-spmm-cpu karate.csr --kernel "$kernel" -k 9 --repeat 2 --check=full --json
  equals "$(json check.passed)" True
done
expect 0 csr-spmm-cpu karate.csr -k 70 --kernel nnz_balanced --variant tile=64,stores=stream --check
prints "as asked"
expect 0 csr-spmm-cpu karate.csr -k 150 --kernel nnz_balanced --variant tile=64,b=packed --check
expect 0 csr-spmm-cpu karate.csr -k 41 --kernel nnz_balanced --variant b=packed,rows=joined --check
expect 2 csr-spmm-cpu karate.csr --kernel nnz_balanced --variant tile=63
says "multiple of 32"
expect 2 csr-spmm-cpu karate.csr --kernel naive --variant tile=64
says "no variants"
expect 0 csr-spmm-cpu karate.csr -k 70 --tune tuned.json --check
prints "was the fastest of"
expect 0 csr-spmm-cpu karate.csr -k 70 --tune tuned.json --check
prints "remembered in tuned.json"
expect 2 csr-spmm-cpu karate.csr --tune tuned.json --kernel naive
for kind in none f32 f64 f16 bf16; do
  expect 0 csr-spmm-cpu karate.csr --value-kind $kind -k 5 --repeat 1 --check=sampled --json
  equals "$(json check.sampled)" True
done
for semiring in plus-times min-plus max-times or-and; do
  expect 0 csr-spmm-cpu tiny.csr --semiring $semiring -k 5 --repeat 1 --check
done
for schedule in static dynamic guided; do
  expect 0 csr-spmm-cpu karate.csr --kernel row_parallel --schedule $schedule --chunk 3 --threads 2 \
    --repeat 1 --check
done
expect 0 csr-spmm-cpu karate.csr --cold --repeat 2 --check
prints cold
expect 2 csr-spmm-cpu karate.csr --kernel naive --schedule static
says "--schedule"
expect 5 csr-spmm-cpu karate.csr --memory-limit 1
expect 5 csr-spmm-cpu karate.csr -k 2147483647
