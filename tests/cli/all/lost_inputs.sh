# shellcheck shell=bash
# No output replaces what is read, or another output, under whatever name.
csr-generate poisson grid.csr --set nx=9 --value-kind f64 --quiet
csr-spmv-cpu grid.csr --output x.npy --quiet
cp x.npy before.npy
kept() { # kept FILE COMMAND...: refused, and the file is as it was
  local file=$1
  shift
  cp "$file" kept.before
  expect 2 "$@"
  cmp "$file" kept.before
}
ln x.npy link.npy
ln -s x.npy symbolic.npy
for name in x.npy ./x.npy link.npy symbolic.npy; do
  kept x.npy csr-spmv-cpu grid.csr --input x.npy --output "$name"
  says "would be lost"
  kept x.npy csr-spmm-cpu grid.csr -k 1 --input x.npy --output "$name"
  kept x.npy csr-solve-cpu grid.csr --rhs x.npy --output "$name"
  kept x.npy csr-solve-cpu grid.csr --guess x.npy --output "$name"
done
for tool in csr-spmv-cpu "csr-spmm-cpu -k 2" csr-spgemm-cpu csr-sddmm-cpu csr-solve-cpu; do
  # shellcheck disable=SC2086 # words on purpose
  kept grid.csr $tool grid.csr --output grid.csr
done
# Patterns read files, too.
printf '1\t3\n2\t2\n' >lengths.tsv
kept grid.csr csr-generate laplacian grid.csr --set graph=./grid.csr
kept lengths.tsv csr-generate row-lengths lengths.tsv --set histogram=lengths.tsv
expect 0 csr-generate row-lengths made.csr --set histogram=lengths.tsv --quiet
# The name of the best iterate is an output, too.
cp x.npy y.best.npy
kept y.best.npy csr-solve-cpu grid.csr --rhs y.best.npy --output y.npy --iterations 1
kept y.best.npy csr-solve-cpu grid.csr --guess y.best.npy --output y.npy --iterations 1
expect 2 csr-spmv-cpu grid.csr --output z.npy --tune ./z.npy
says "two outputs have the same name"
csr-spmv-cpu grid.csr --tune cache.json --quiet
kept cache.json csr-spmv-cpu grid.csr --tune cache.json --output cache.json
no_file z.npy y.npy
cmp x.npy before.npy
