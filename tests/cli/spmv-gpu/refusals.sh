# shellcheck shell=bash
# GPUs that are not there, too little memory, formats that would explode: refused by name.
needs_cuda
csr-import "$DATASETS/lp_afiro.mtx" afiro.csr --quiet
expect 6 env CUDA_VISIBLE_DEVICES= csr-spmv-gpu afiro.csr
says "GPU"
expect 2 env CUDA_VISIBLE_DEVICES= csr-spmv-gpu afiro.csr -k 2
expect 2 env CUDA_VISIBLE_DEVICES= csr-spmv-gpu afiro.csr --kernel row_bins
needs_gpu csr-spmv-gpu afiro.csr --repeat 1
run() { csr-spmv-gpu afiro.csr --repeat 1 --warmup 0 --check=full --json "$@"; }
expect 6 run --device 99
expect 2 run --kernel ell --semiring min-plus
expect 2 run --kernel csr_vector --value-kind f16
expect 2 run --semiring min-plus --beta 1
expect 5 run --memory-limit 100 --output y.npy
says "limit is 100 bytes"
no_file y.npy
# One full row among 60,000: the memory that ELL would need.
python3 - <<'PYTHON' >hub.mtx
n = 60000
print("%%MatrixMarket matrix coordinate real general")
print(n, n, 2 * n - 1)
for i in range(1, n + 1):
    print(i, i, 2)
for j in range(2, n + 1):
    print(1, j, 1)
PYTHON
csr-import hub.mtx hub.csr --quiet
expect 5 csr-spmv-gpu hub.csr --kernel ell --repeat 1
says "ell needs"
expect 0 csr-spmv-gpu hub.csr --repeat 1 --check=full
