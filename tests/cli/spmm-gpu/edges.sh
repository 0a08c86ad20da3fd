# shellcheck shell=bash
# Widths, kinds, directions and matrices at the edges: right, and checked.
needs_cuda
csr-import "$DATASETS/lp_afiro.mtx" afiro.csr --quiet
needs_gpu csr-spmm-gpu afiro.csr --repeat 1
run() { csr-spmm-gpu afiro.csr --repeat 1 --warmup 0 --check=full --json "$@"; }
for kinds in "f32" "f64" "f16" "bf16" "f16 --output-kind f16" "none --dense-kind f64"; do
  # shellcheck disable=SC2086
  expect 0 run --value-kind $kinds -k 1 --transpose --cold
  equals "$(json check.passed)" True
  # shellcheck disable=SC2086
  expect 0 run --value-kind $kinds -k 257
  equals "$(json check.passed)" True
done
expect 0 run --kernel nnz_atomic --value-kind f32 --nondeterministic -k 7
expect 0 run --nondeterministic --alpha -2 --beta 0.5
expect 0 run --semiring max-times --value-kind f64 -k 5
for kernel in row_panels dense_windows; do
  expect 0 run --kernel $kernel --value-kind f32 -k 33 --transpose
done
# Without entries, without rows, with one entry.
printf '%%%%MatrixMarket matrix coordinate real general\n5 4 0\n' >empty.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >nothing.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -2.5\n' >single.mtx
for name in empty nothing single; do
  csr-import $name.mtx $name.csr --quiet
  expect 0 csr-spmm-gpu $name.csr -k 1 --repeat 1 --check=full --json
  expect 0 csr-spmm-gpu $name.csr -k 64 --repeat 1 --check=full --kernel dense_windows --value-kind f32 --json
done
