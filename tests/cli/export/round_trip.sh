# shellcheck shell=bash
# Out and in again is the identity where the format can hold everything; the others say what is lost.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --value-kind=f32 --quiet
for name in copy.mtx copy.npz .mtx; do
  csr-export --force tiny.csr "$name" --quiet
  csr-import --force "$name" "$name.csr" --quiet
  csr-export --force "$name.csr" again.mtx --quiet
  csr-export --force tiny.csr once.mtx --quiet
  cmp once.mtx again.mtx || fail "$name changed the matrix"
  expect 0 csr-info "$name.csr" --header-only --json
  equals "$(json value_kind)" f32
done
expect 2 csr-export tiny.csr tiny.graph
says "--lossy"
no_file tiny.graph
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
expect 0 csr-export karate.csr karate.graph --lossy
expect 2 csr-export karate.csr karate.unknown
expect 2 csr-export karate.csr karate.mtx --format no-such-format
no_file karate.unknown
# A name that promises another format is refused; endings of none, and .txt, are taken as they are.
for wrong in 'matrix-market karate.mtx.gz' 'npz karate.csr' 'edge-list karate.csv' 'matrix-market-gz karate.mtx'; do
  expect 2 csr-export karate.csr "new_${wrong#* }" --format "${wrong% *}"
  says "would not be what its name says"
  no_file "new_${wrong#* }"
done
for right in 'matrix-market-gz karate.mtx.gz' 'edge-list karate.txt' 'matrix-market karate.txt' 'npz karate.dat'; do
  expect 0 csr-export karate.csr "new_${right#* }" --format "${right% *}" --force
done
