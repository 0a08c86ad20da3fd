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
