# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool, and says what its format takes.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --value-kind f64 --quiet
csr-generate poisson grid.csr --set nx=70 --value-kind f64 --quiet
for kernel in $(csr-spmv-cpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])'); do
  expect 0 csr-spmv-cpu karate.csr --kernel "$kernel" --repeat 2 --check=full --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed)" True
done
for kernel in csr_balanced csr_chunks csr_lanes sell compressed bsr hyb ell dia; do
  expect 0 csr-spmv-cpu grid.csr --kernel $kernel --repeat 1 --threads 2 --check --transpose
  prints "bytes a nonzero"
done
# A stencil of one value for each diagonal is kept by diagonals, and auto says what that saves; but
# not where AVX-512 multiplies faster than it decodes.
expect 0 env CSRKIT_CPU_ISA=portable csr-spmv-cpu grid.csr --repeat 1 --check
prints "compressed (because it reads 0.0"
prints "paid after"
expect 0 env CSRKIT_CPU_ISA=portable csr-spmm-cpu grid.csr -k 1 --repeat 1 --check=full --json
equals "$(json kernel_run)" cpu.spmv.compressed
expect 0 csr-spmm-cpu grid.csr -k 2 --repeat 1 --check=full --json
equals "$(json kernel_run)" cpu.spmm.chunked_rows
expect 0 csr-spmm-cpu grid.csr -k 20 --repeat 1 --check=full --json
equals "$(json kernel_run)" cpu.spmm.nnz_balanced
# An f32 matrix with f64 vectors, transposed, scaled.
expect 0 csr-spmv-cpu karate.csr --value-kind f32 --dense-kind f64 --transpose --alpha 2 --beta=-1 --check=full
for kind in none f32 f64 f16 bf16; do
  expect 0 csr-spmv-cpu karate.csr --value-kind $kind --repeat 1 --check=full
done
for semiring in min-plus max-times or-and; do
  expect 0 csr-spmv-cpu karate.csr --semiring $semiring --repeat 1 --check=full
  prints csr_balanced
done
# The vectors come and go as n x 1 files.
expect 0 csr-spmv-cpu grid.csr --output y.npy --check
expect 0 csr-spmv-cpu grid.csr --input y.npy --check=full
# A format that pads refuses what would explode, with both numbers.
csr-generate arrow arrow.csr --set n=30000 --quiet
expect 5 csr-spmv-cpu arrow.csr --kernel ell
says "ell would pad this matrix to"
says "its limit is"
csr-generate erdos-renyi random.csr --set rows=4000 --set nnz=20000 --quiet
expect 5 csr-spmv-cpu random.csr --kernel dia
says "dia would pad this matrix to"
expect 0 csr-spmv-cpu arrow.csr --kernel hyb --check
# The bench measures these kernels side by side, and knows what a product reads.
expect 0 csr-bench grid.csr --kernels cpu.spmv.auto,cpu.spmv.csr_rows,cpu.spmv.ell --repeat 2 \
  --records records.jsonl
python3 -c '
import json
records = [json.loads(line) for line in open("records.jsonl")]
assert len(records) == 3, len(records)
text = json.dumps(records[0])
assert "stored_bytes" in text, text'
expect 5 csr-spmv-cpu karate.csr --memory-limit 1 --transpose
# A forecast without a product.
expect 0 csr-forecast grid.csr --operation spmv
