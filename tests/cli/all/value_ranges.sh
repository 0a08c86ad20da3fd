# shellcheck shell=bash
# Finite values never become infinite in silence: csr-import refuses them, products warn.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 3 1e39\n3 1 -1e300\n3 3 inf\n' >wide.mtx
csr-import wide.mtx wide.csr --quiet
csr-export wide.csr wide.npz --quiet
expect 3 csr-import wide.mtx no.csr --value-kind f32
says 'wide.mtx:4: expected a value within the range of f32, found "1e39"'
expect 3 csr-import wide.npz no.csr --value-kind f32
says "wide.npz: expected values that f32 can hold, found 2 values beyond the range of f32, the first 1e+39 in row 1, column 2 (counted from 0)"
says "a wider --value-kind"
# Duplicates are summed in double, and then the sum must fit.
for kind in f16 f32 f64; do
  case $kind in f16) value=4e4 ;; f32) value=3e38 ;; *) value=1e308 ;; esac
  printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 %s\n2 1 %s\n' $value $value >$kind.mtx
  expect 3 csr-import $kind.mtx no.csr --value-kind $kind
  says "$kind.mtx: expected sums of duplicates within the range of $kind, found a larger one in row 1, column 0 (counted from 0)"
  expect 0 csr-import $kind.mtx $kind.csr --value-kind $kind --duplicates first
done
no_file no.csr
# Nor does a value become 0 in silence.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 1e-50\n3 1 -1e-400\n' >tiny.mtx
expect 0 csr-import tiny.mtx tiny.csr
says 'tiny.mtx: 1 value too small for f64, the first "-1e-400" in line 5; they become 0: no kind here is wider'
expect 0 csr-import tiny.mtx low.csr --value-kind bf16 --json
says 'tiny.mtx: 2 values too small for bf16, the first "1e-50" in line 4; they become 0: a wider --value-kind keeps them'
equals "$(json underflows)" 2
prints '"warnings":["2 values too small for bf16, '
expect 0 csr-info low.csr --provenance
prints '"underflows": 2'
csr-export tiny.csr tiny.npz --quiet
expect 0 csr-import tiny.npz low.csr --value-kind f16 --force
says 'tiny.npz: 1 value too small for f16, the first 1e-50 in row 1, column 2 (counted from 0); they become 0'
warned() { # warned TEXT COMMAND...
  local text=$1
  shift
  expect 0 "$@"
  says "$text"
  says "; they become infinite: use a wider kind"
}
for tool in csr-spmm-cpu csr-spmv-cpu csr-spgemm-cpu csr-sddmm-cpu csr-bench; do
  warned "beyond the range of f32, the first 1e+39 in row 1, column 2 (counted from 0)" \
    $tool wide.csr --value-kind f32 --repeat 1
  expect 0 $tool wide.csr --repeat 1
  silent err
done
csr-partition wide.csr parts.csr --parts 3 --method blocks --quiet
warned "the part of rank 1, by rows and columns of the part: 1 value beyond the range of f32, the first 1e+39 in row 0" \
  csr-spmm-dist parts.csr --ranks 3 -k 1 --value-kind f32 --repeat 1
warned "warning: parts.csr, the part of rank 1, by rows and columns of the part: 1 value beyond the range of f32, the first 1e+39 in row 0" \
  csr-spgemm-dist parts.csr --ranks 3 --value-kind f32 --repeat 1
equals "$(grep -c 'the part of rank' err)" 1
csr-generate erdos-renyi one.csr --set rows=3 --set cols=3 --set nnz=9 --quiet
warned "warning: B, parts.csr, the part of rank 1, by rows and columns of the part: 1 value beyond the range of f32, the first 1e+39" \
  csr-spgemm-dist one.csr parts.csr --ranks 3 --value-kind f32 --repeat 1
equals "$(grep -c 'the part of rank' err)" 1
warned "warning: A, parts.csr, the part of rank 1, by rows and columns of the part: 1 value beyond the range of f32, the first 1e+39" \
  csr-spgemm-dist parts.csr one.csr --ranks 3 --value-kind f32 --repeat 1
equals "$(grep -c 'the part of rank' err)" 1
warned "the part of rank 0, by rows and columns of the part: 2 values beyond the range of f32, the first 1e+39 in row 1, column 2" \
  csr-spmm-dist wide.csr --ranks 1 -k 3 --value-kind f32 --repeat 1
# What becomes 0 in a product is told as well.
for tool in csr-spmm-cpu csr-spmv-cpu csr-spgemm-cpu csr-sddmm-cpu csr-bench "csr-spmm-dist --ranks 1" "csr-spgemm-dist --ranks 1"; do
  read -ra words <<<"$tool"
  expect 0 "${words[@]}" tiny.csr --value-kind f32 --repeat 1
  says "1 value too small for f32, the first 1e-50 in row 1, column 2 (counted from 0); they become 0: use a wider kind"
  equals "$(wc -l <err)" 1
done
csr-solve-cpu --generate-dense 3 --output b.npy --quiet
csr-spmm-cpu wide.csr -k 1 --input b.npy --output c.npy --quiet
warned "c.npy: " csr-spmm-cpu wide.csr -k 1 --value-kind f32 --dense-kind f32 --input c.npy --repeat 1
# Factors are held in the kind of the sums, too.
csr-generate erdos-renyi narrow.csr --set rows=4 --set cols=4 --set nnz=9 --quiet
for tool in csr-spmm-cpu csr-spmv-cpu csr-spgemm-cpu csr-sddmm-cpu; do
  expect 2 $tool narrow.csr --alpha 1e39 --repeat 1 --output no.out
  says "alpha is 1e+39, beyond the range of f32, the kind of the sums; use operands of f64 (--value-kind f64)"
  no_file no.out
  expect 0 $tool narrow.csr --alpha 3e38 --repeat 1
  expect 0 $tool narrow.csr --alpha 1e39 --value-kind f64 --repeat 1
  if [ $tool = csr-spgemm-cpu ]; then continue; fi
  expect 2 $tool narrow.csr --beta -1e39 --repeat 1
  says "beta is -1e+39"
done
