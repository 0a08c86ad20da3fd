# shellcheck shell=bash
# GPU against CPU, dry: the CPU's tool stands in for the GPU's; then products that do differ.
python=$(python_with numpy) || { echo "no Python with NumPy"; exit 6; }
script=$CLI_FOLDER/../../run_scripts/measure/spgemm_gpu_vs_cpu.py
bin=$(dirname "$(command -v csr-spgemm-cpu)")
mkdir tools
for tool in csr-import csr-info csr-spgemm-cpu; do ln -s "$bin/$tool" tools/$tool; done
ln -s "$bin/csr-spgemm-cpu" tools/csr-spgemm-gpu
expect 0 "$python" "$script" "$DATASETS/karate.mtx" "$DATASETS/lp_afiro.mtx" --tools tools --scratch .
prints "| karate | f64 | 698 | the same | 0.000 |"
prints "| lp_afiro (A A^T) | f32 | 153 | the same |"
# Half of every value; then a row less.
rm tools/csr-spgemm-gpu
printf '#!/bin/sh\nexec "%s/csr-spgemm-cpu" "$@" --alpha 0.5\n' "$bin" >tools/csr-spgemm-gpu
chmod +x tools/csr-spgemm-gpu
expect 1 "$python" "$script" "$DATASETS/karate.mtx" --tools tools --value-kinds f64
prints "values differ in rows 0 to 34"
printf '#!/bin/sh\nexec "%s/csr-spgemm-cpu" "$@" --drop-below 0.5\n' "$bin" >tools/csr-spgemm-gpu
expect 1 "$python" "$script" "$DATASETS/karate.mtx" --tools tools --value-kinds f32
prints "rows have other lengths"
