# shellcheck shell=bash
# Operands beyond the limit: the same bits as in core, and a report of what travelled; files used where they lie.
needs_cuda
csr-generate rmat graph.csr --set scale=12 --quiet
needs_gpu csr-spmm-gpu graph.csr --repeat 1
run() { csr-spmm-gpu graph.csr --repeat 1 --warmup 0 --force --json "$@"; }
for kernel in auto row_bins row_panels; do
  for k in 33 128; do
    expect 0 run -k $k --kernel $kernel --output whole.npy
    equals "$(python3 -c 'import json; print("out_of_core" in json.load(open("out")))')" False
    for how in "auto --memory-limit 1M" columns "columns --panel-cols 16" "rows --memory-limit 1M" "columns --panel-major" "rows --panel-major --memory-limit 1M"; do
      # shellcheck disable=SC2086
      expect 0 run -k $k --kernel $kernel --output cut.npy --check=full --out-of-core $how
      equals "$(json check.passed)" True
      cmp whole.npy cut.npy
      [ "$(json out_of_core.bytes_out)" -eq $((4096 * k * 4)) ] || fail "bytes out: $(json out_of_core.bytes_out)"
    done
  done
done
expect 0 run -k 64 --out-of-core rows --memory-limit 1M
equals "$(json out_of_core.scheme)" rows
[ "$(json out_of_core.device_bytes)" -le 1048576 ] || fail "more than the limit"
# Transposed, scaled and added.
expect 0 run -k 40 --transpose --alpha 2 --beta -0.5 --output whole.npy
expect 0 run -k 40 --transpose --alpha 2 --beta -0.5 --output cut.npy --memory-limit 1M
cmp whole.npy cut.npy
# Large files of B and C are mapped.
python3 -c 'import numpy' 2>/dev/null || exit 0
python3 -c 'import numpy; numpy.save("b.npy", numpy.random.default_rng(1).random((4096, 4200), dtype=numpy.float32))'
expect 0 run -k 4200 --input b.npy --output whole.npy --out-of-core never
expect 0 run -k 4200 --input b.npy --output cut.npy --memory-limit 48M --check=sampled
equals "$(json out_of_core.maps_b) $(json out_of_core.maps_c)" "True True"
cmp whole.npy cut.npy
