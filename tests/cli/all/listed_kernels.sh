# shellcheck shell=bash
# A kernel may be given as --list shows it, with its room, or by its name alone.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
csr-generate poisson grid.csr --set nx=4 --quiet
for tool in csr-spmm-cpu csr-spmv-cpu csr-spgemm-cpu csr-sddmm-cpu csr-spmm-dist csr-spgemm-dist csr-solve-cpu; do
  matrix=tiny.csr
  if [ $tool = csr-solve-cpu ]; then matrix=grid.csr; fi
  listed=$("$tool" --list --json | python3 -c '
import json, sys
print(next(row["kernel"] for row in json.load(sys.stdin)["rows"] if row["role"] == "reference"))')
  for name in "$listed" "cpu.${listed##*.}" "${listed##*.}"; do
    expect 0 "$tool" $matrix --kernel "$name" --quiet
  done
  expect 2 "$tool" $matrix --kernel "gpu.${listed#cpu.}"
done
for product in cpu.spmv.csr_rows cpu.csr_rows csr_rows; do
  expect 0 csr-solve-cpu grid.csr --product $product --quiet
done
expect 0 csr-solve-cpu grid.csr --product cpu.spmm.row_loop --right-hand-sides 2 --quiet
