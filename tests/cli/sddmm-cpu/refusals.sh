# shellcheck shell=bash
# What csr-sddmm-cpu cannot read, write or do, and matrices with nothing in them.
csr-generate poisson grid.csr --set nx=20 --value-kind f64 --quiet
csr-spmm-cpu grid.csr -k 4 --output x.npy --quiet
head -c 3000 x.npy >cut.npy
mkfifo pipe
mkdir folder
for option in --input-x --input-y; do
  for input in cut.npy:3 grid.csr:3 pipe:4 folder:4 /dev/zero:4 nowhere.npy:4; do
    expect "${input##*:}" timeout 20 csr-sddmm-cpu grid.csr -k 4 $option "${input%:*}" --output c.csr
    says "${input%:*}"
    no_file c.csr
  done
  expect 3 csr-sddmm-cpu grid.csr -k 5 $option x.npy
  says "expected an array of 400 x 5"
  expect 3 csr-sddmm-cpu grid.csr -k 4 --value-kind f32 $option x.npy
  says "--dense-kind"
  cp x.npy before.npy
  expect 2 csr-sddmm-cpu grid.csr -k 4 $option x.npy --output x.npy
  says "would be lost"
  cmp x.npy before.npy
done
for name in c.csr c.npy; do
  for output in /dev/full pipe folder "no/folder/$name"; do
    expect 4 csr-sddmm-cpu --force grid.csr --output "$output"
    says "cannot write '$output'"
  done
  expect 4 sh -c "ulimit -f 1; exec csr-sddmm-cpu grid.csr --output $name"
  no_file "$name"
done
# There is one semiring, so the tool has no option for it; csr-bench has, for other operations.
expect 2 csr-sddmm-cpu grid.csr --semiring min-plus
says "there is no option --semiring"
expect 1 csr-bench grid.csr --kernels cpu.sddmm.auto -k 4 --repeat 1 --semiring min-plus
says "plus-times alone"
expect 2 csr-sddmm-cpu grid.csr --dense-kind f32 --times-values
says "A's values in f64 do not go with X and Y in f32"
expect 0 csr-sddmm-cpu grid.csr --dense-kind f32 --repeat 1 --check=full
expect 2 csr-sddmm-cpu grid.csr --output-kind bf16
says "do not go together"
expect 2 csr-sddmm-cpu grid.csr --transpose
expect 2 csr-sddmm-cpu grid.csr -k 0
expect 1 csr-bench grid.csr --kernels cpu.sddmm.auto -k 4 --repeat 1 --transpose
grep -q "transpose A first" err out || fail "no word about the transpose"
for shape in "0 0" "0 5" "5 0" "7 7"; do
  csr-generate --force erdos-renyi empty.csr --set "rows=${shape% *}" --set "cols=${shape#* }" --set nnz=0 --quiet
  for kernel in auto nnz_balanced row_loop reference; do
    expect 0 csr-sddmm-cpu --force empty.csr --kernel $kernel --repeat 1 --check=full --beta 1 --output c.csr
    expect 0 csr-sddmm-cpu --force empty.csr --kernel $kernel --repeat 1 --check=sampled --output c.npy
  done
done
# A NaN in X is no error, and the same NaN in C is right.
python3 - <<'END'
data = bytearray(open("x.npy", "rb").read())
data[-8:] = b"\xff" * 8
open("nan.npy", "wb").write(data)
END
for kernel in auto row_loop reference; do
  expect 0 csr-sddmm-cpu grid.csr -k 4 --kernel $kernel --repeat 1 --input-x nan.npy --check=full
done
# A name in capitals is that of an array, too.
expect 0 csr-sddmm-cpu grid.csr -k 4 --repeat 1 --output small.npy
expect 0 csr-sddmm-cpu grid.csr -k 4 --repeat 1 --output CAPITAL.NPY
cmp small.npy CAPITAL.NPY || fail "another file under a name in capitals"
