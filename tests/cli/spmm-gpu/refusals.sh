# shellcheck shell=bash
# GPUs that are not there, too little memory, options, plans and files that do not fit: refused by name.
needs_cuda
csr-import "$DATASETS/lp_afiro.mtx" afiro.csr --quiet
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
# Options are looked at before a GPU is looked for.
expect 6 env CUDA_VISIBLE_DEVICES= csr-spmm-gpu afiro.csr
says "GPU"
expect 2 env CUDA_VISIBLE_DEVICES= csr-spmm-gpu afiro.csr -k 0
needs_gpu csr-spmm-gpu afiro.csr --repeat 1
run() { csr-spmm-gpu afiro.csr --repeat 1 --warmup 0 --check=full --json "$@"; }
expect 6 csr-spmm-gpu afiro.csr --device 99
says "99"

expect 2 run --kernel nnz_atomic
says "--nondeterministic"
expect 2 run --semiring min-plus --beta 1
expect 2 run --semiring or-and --value-kind f16
expect 2 run --value-kind f16 --dense-kind f32
says "do not go together"
expect 2 run --variant nothing
expect 2 run --kernel row_binz
expect 2 run --out-of-core sideways
says "auto, never, columns, rows"
expect 2 run --out-of-core never --panel-cols 4
expect 2 run --out-of-core rows --kernel v1_warp_per_row
says "out of core"

# Too little memory: both numbers, nothing written.
expect 5 run --memory-limit 100 --output c.npy
says "limit is 100 bytes"
expect 5 run -k 4096 --memory-limit 64K --out-of-core never --output c.npy
says "limit is 65536 bytes"
expect 5 run -k 2147483647
no_file c.npy

# Operands in files.
expect 0 run -k 3 --output c.npy
expect 3 csr-spmm-gpu karate.csr -k 3 --input c.npy
says "c.npy: expected an array of 34 x 3"
expect 4 run -k 3 --output nowhere/c.npy
expect 3 csr-spmm-gpu c.npy

# Plans that are for something else, or for nothing.
expect 0 run -k 3 --value-kind f32 --save-plan kept.plan
expect 0 run -k 3 --value-kind f32 --load-plan kept.plan
expect 2 run -k 3 --value-kind f32 --load-plan kept.plan --transpose
says "transpose"
expect 2 run -k 3 --value-kind f64 --load-plan kept.plan
says "kept.plan"
expect 2 run -k 3 --value-kind f32 --load-plan kept.plan --semiring min-plus
says "semiring"
expect 3 run -k 3 --load-plan karate.csr
says "karate.csr"
expect 3 csr-spmm-gpu kept.plan
expect 4 run -k 3 --save-plan nowhere/kept.plan
expect 4 run -k 3 --tune nowhere/tuned.json
