# shellcheck shell=bash
# What the system refuses is exit code 4, and names the file.
for tool in csr-info csr-spmm-cpu csr-spgemm-cpu csr-bench; do
  expect 4 "$tool" nowhere.csr
  says nowhere.csr
done
expect 4 csr-import nowhere.mtx out.csr
says nowhere.mtx
expect 4 csr-export nowhere.csr out.mtx
expect 4 csr-reorder nowhere.csr out.csr --method degree
no_file out.csr out.mtx

tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 4 csr-import tiny.mtx no/folder/out.csr
says no/folder
expect 4 csr-export tiny.csr no/folder/out.mtx
expect 4 csr-reorder tiny.csr no/folder/out.csr --method degree
expect 4 csr-generate dense no/folder/out.csr --set rows=3
expect 4 csr-spmm-cpu tiny.csr --output no/folder/c.npy
expect 4 csr-spmm-cpu tiny.csr --input nowhere.npy
expect 4 csr-bench tiny.csr --records no/folder/out.jsonl
# Its first page cannot be read by anyone: EIO.
if [ -r /proc/self/mem ]; then
  expect 4 csr-report /proc/self/mem --no-html --csv out.csv
  says /proc/self/mem
  no_file out.csv
fi
mkdir folder.csr
expect 4 csr-import tiny.mtx folder.csr
[ -d folder.csr ] || fail "a folder was replaced"
# Names that cannot be looked at.
ln -s loop.csr loop.csr
long=$(printf 'a%.0s' {1..300}).csr
for name in loop.csr "$long"; do
  expect 4 csr-import tiny.mtx "$name" --force
  says "cannot write '"
  says "$name': "
  expect 4 csr-partition tiny.csr "$name" --parts 2 --method blocks
  says "cannot write '"
  says "$name': "
done
# A report that cannot be written is no success.
if [ -w /dev/full ]; then
  code=0
  csr-info tiny.csr >/dev/full 2>err || code=$?
  equals "$code" 4
fi
# A limit on the size of files is a write that fails, and leaves nothing behind.
expect 4 sh -c 'ulimit -f 20; exec csr-generate rmat limited.csr --set scale=12'
says limited.csr
no_file limited.csr
csr-generate rmat big.csr --set scale=12 --quiet
for name in limited.mtx limited.mtx.gz limited.npz; do
  # shellcheck disable=SC2016 # $0 is for the inner shell
  expect 4 sh -c 'ulimit -f 20; exec csr-export big.csr "$0"' "$name"
  says "error: cannot write '$name': writing failed"
  no_file "$name"
done
