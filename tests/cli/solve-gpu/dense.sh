# shellcheck shell=bash
# Dense systems through the tool, with every product; what is not deterministic wants to be asked for.
needs_cuda
needs_gpu csr-solve-gpu --generate-dense 4
for product in half half:64x256 packed split_two_pass shared_tiles transposed row_per_thread; do
  expect 0 csr-solve-gpu --generate-dense 300 --rhs from-solution --kernel fused --product $product --json
  equals "$(json status) $(json is_dense)" "converged True"
  python3 -c 'import json; assert json.load(open("out"))["solution_error"] < 1e-5'
done
expect 2 csr-solve-gpu --generate-dense 9 --kernel fused --product split_atomic
says "determinism"
expect 0 csr-solve-gpu --generate-dense 9 --kernel fused --product split_atomic --nondeterministic
expect 2 csr-solve-gpu --generate-dense 9 --kernel fused --product half:3x3
says "64x256"
# From a file: the CPU's answer is the right-hand side of another system.
expect 0 csr-solve-cpu --generate-dense 40 --output x.npy
expect 0 csr-solve-gpu --generate-dense 40 --guess x.npy --json
equals "$(json iterations)" 0
