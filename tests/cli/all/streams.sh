# shellcheck shell=bash
# A standard stream by the name -: text in, text out, and a reader that goes away.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
csr-export tiny.csr tiny.tsv --format edge-list --quiet
expect 0 csr-import - from_file.csr <tiny.mtx
same_matrix tiny.csr from_file.csr
# shellcheck disable=SC2002 # a pipe is what is tested
expect 0 sh -c 'cat tiny.mtx | csr-import - from_pipe.csr --json'
equals "$(json nnz)" 6
same_matrix tiny.csr from_pipe.csr
expect 3 sh -c 'printf "nothing that csrkit knows\n" | csr-import - no.csr'
no_file no.csr -

csr-export tiny.csr file.mtx --quiet
for format in matrix-market edge-list; do
  csr-export tiny.csr "$format.out" --format $format --quiet
  expect 0 csr-export tiny.csr - --format $format
  cmp out "$format.out"
done
expect 0 sh -c 'csr-export tiny.csr - --format matrix-market | csr-import - again.csr --value-kind f64'
same_matrix tiny.csr again.csr
expect 2 csr-export tiny.csr -
says "--format"
expect 2 csr-export tiny.csr - --format edge-list --json
says "both write to standard output"
for format in npz petsc matrix-market-gz; do
  expect 4 csr-export tiny.csr - --format $format
  says "an output is a file, not standard output"
  silent out
done
no_file -
# Standard output replaces no file, also none of that name.
echo kept >./-
expect 0 csr-export tiny.csr - --format edge-list
cmp out edge-list.out
equals "$(cat ./-)" kept
rm ./-

csr-generate rmat big.csr --set scale=14 --quiet
code=$(
  { csr-export big.csr - --format edge-list 2>err || echo $? >code; } | head -n 1 >/dev/null
  cat code
)
equals "$code" 141
silent err
if [ -w /dev/full ]; then
  expect 4 sh -c 'csr-export tiny.csr - --format edge-list >/dev/full'
  says "No space left on device"
fi
