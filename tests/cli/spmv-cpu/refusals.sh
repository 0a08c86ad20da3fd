# shellcheck shell=bash
# What csr-spmv-cpu cannot read, write or hold, and matrices with nothing in them.
csr-generate poisson grid.csr --set nx=20 --value-kind f64 --quiet
csr-spmv-cpu grid.csr --output x.npy --quiet
head -c 3000 x.npy >cut.npy
mkfifo pipe
mkdir folder
for input in cut.npy:3 grid.csr:3 pipe:4 folder:4 /dev/zero:4 nowhere.npy:4; do
  expect "${input##*:}" timeout 20 csr-spmv-cpu --force grid.csr --input "${input%:*}" --output y.npy
  says "${input%:*}"
  no_file y.npy
done
csr-spmm-cpu grid.csr -k 41 --output wide.npy --repeat 1 --quiet
expect 3 csr-spmv-cpu grid.csr --input wide.npy
says "expected an array of 400 x 1"
for output in /dev/full pipe folder no/folder/y.npy; do
  expect 4 csr-spmv-cpu --force grid.csr --output "$output"
  says "cannot write '$output'"
done
expect 4 sh -c 'ulimit -f 1; exec csr-spmv-cpu grid.csr --output y.npy'
says "cannot write 'y.npy'"
no_file y.npy
for shape in "0 0" "0 5" "5 0" "7 7"; do
  csr-generate --force erdos-renyi empty.csr --set "rows=${shape% *}" --set "cols=${shape#* }" --set nnz=0 --quiet
  for kernel in auto csr_chunks csr_lanes sell compressed bsr hyb ell dia csr_balanced csr_rows; do
    expect 0 csr-spmv-cpu --force empty.csr --kernel $kernel --repeat 1 --check=full --output y.npy
  done
done
# A NaN in x is no error, and the same NaN in y is right.
python3 - <<'END'
data = bytearray(open("x.npy", "rb").read())
data[-8:] = b"\xff" * 8
open("nan.npy", "wb").write(data)
END
for kernel in auto csr_chunks csr_lanes sell compressed csr_balanced; do
  expect 0 csr-spmv-cpu grid.csr --kernel $kernel --repeat 1 --input nan.npy --check=full
done
for options in --transpose "--kernel csr_lanes"; do
  # shellcheck disable=SC2086
  expect 5 csr-spmv-cpu grid.csr $options --memory-limit 1K
  says "; raise --memory-limit"
  ! grep -q dense-cols err || fail "it offers an option that it does not have"
done
