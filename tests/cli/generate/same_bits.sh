# shellcheck shell=bash
# The same seed gives the same file on any number of threads; another seed another one.
for threads in 1 2 5; do
  OMP_NUM_THREADS=$threads csr-generate --force rmat "threads$threads.csr" --set scale=12 --seed 5 --quiet
  csr-export --force "threads$threads.csr" "threads$threads.mtx" --quiet
done
cmp threads1.mtx threads2.mtx
cmp threads1.mtx threads5.mtx
csr-generate rmat other.csr --set scale=12 --seed 6 --quiet
csr-export other.csr other.mtx --quiet
if cmp -s threads1.mtx other.mtx; then fail "the seed does nothing"; fi
# What no machine holds is refused before anything is made.
for settings in "rmat --set scale=30 --set edges=1099511627776" "dense --set rows=2147483647" \
  "erdos-renyi --set rows=2147483647 --set nnz=4503599627370496" \
  "communities --set n=2147483647 --set mean=1000000"; do
  # shellcheck disable=SC2086 # settings are words
  expect 5 timeout 60 csr-generate ${settings%% *} huge.csr ${settings#* }
  says "the matrix needs about"
  no_file huge.csr
done
expect 0 csr-generate rmat pattern.csr --set scale=6 --value-kind none --json
equals "$(json value_kind)" none
expect 0 csr-generate poisson grid.csr --set nx=30 --set ny=20 --json
equals "$(json rows) $(json symmetric)" "600 yes"
# SOURCE_DATE_EPOCH makes whole files equal, provenance included.
csr-generate dense again.csr --set rows=9 --quiet
mv again.csr first.csr
csr-generate dense again.csr --set rows=9 --quiet
cmp first.csr again.csr
# What a pattern reads is part of the provenance.
csr-generate laplacian made.csr --set graph=grid.csr --quiet
csr-info made.csr --provenance --json >out
equals "$(json provenance.steps.0.inputs.0.path) $(json provenance.steps.0.inputs.0.size_bytes)" "grid.csr $(stat -c %s grid.csr)"
json provenance.steps.0.inputs.0.xxh3_128 | grep -qxE '[0-9a-f]{32}' || fail "no digest of the graph"
# A built-in histogram is known by its name, and is no file. By its path it is the same, and an input.
histogram=$DATASETS/row_length_histograms/ddi.tsv
expect 0 csr-generate row-lengths named.csr --set histogram=ddi --quiet
expect 0 csr-generate row-lengths read.csr --set "histogram=$histogram" --quiet
same_matrix named.csr read.csr
csr-info named.csr --provenance --json >out
equals "$(json provenance.steps.0.inputs)" "[]"
csr-info read.csr --provenance --json >out
equals "$(json provenance.steps.0.inputs.0.path)" "$histogram"
expect 2 csr-generate row-lengths none.csr --set histogram=nobody
says "no row-length histogram named 'nobody'"
says "Yeast"
