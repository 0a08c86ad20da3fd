# shellcheck shell=bash
# Bad data is exit code 3, names file and place, and leaves nothing under the output's name.
refused() { # refused NAME TEXT
  printf '%b' "$2" >"$1"
  expect 3 csr-import "$1" out.csr
  says "$1"
  silent out
  no_file out.csr
}
head='%%MatrixMarket matrix coordinate real general\n'
refused short.mtx "${head}2 2 2\n1 1 1\n"
refused long.mtx "${head}2 2 1\n1 1 1\n2 2 2\n"
refused range.mtx "${head}2 2 1\n3 1 1\n"
refused zero.mtx "${head}2 2 1\n0 1 1\n"
refused number.mtx "${head}2 2 1\n1 1 one\n"
refused huge.mtx "${head}4294967296 2 1\n1 1 1\n"
refused complex.mtx '%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n'
refused empty.mtx ''
tiny_mtx | sed 's/^4 1 4$/1 1 4/' >double.mtx
expect 3 csr-import double.mtx out.csr --duplicates=error
says double.mtx
no_file out.csr

tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 3 csr-import tiny.csr out.csr
size=$(stat -c %s tiny.csr)
head -c $((size - 1)) tiny.csr >cut.csr
cp tiny.csr flipped.csr
printf '\377' | dd of=flipped.csr bs=1 seek=4100 conv=notrunc status=none
: >empty.csr
for file in cut.csr flipped.csr empty.csr tiny.mtx; do
  expect 3 csr-info "$file"
  says "$file"
  expect 3 csr-info "$file" --verify
  expect 3 csr-info "$file" --python
  silent out
  expect 3 csr-density "$file"
  expect 3 csr-forecast "$file" -k 2
  expect 3 csr-export "$file" out.mtx
  expect 3 csr-reorder "$file" out.csr --method degree
  expect 3 csr-spmm-cpu "$file" --output out.npy
  expect 3 csr-spgemm-cpu "$file" --output out.csr
  expect 3 csr-spmv-cpu "$file" --output out.npy
  expect 3 csr-sddmm-cpu "$file" --output out.csr
  expect 3 csr-solve-cpu "$file" --output out.npy
  expect 3 csr-bench "$file"
  no_file out.csr out.mtx out.npy
done
