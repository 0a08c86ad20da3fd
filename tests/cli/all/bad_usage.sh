# shellcheck shell=bash
# What a tool does not understand it refuses, with exit code 2 and a sentence.
for tool in $(all_tools); do
  expect 2 "$tool" --no-such-option
  says "there is no option --no-such-option"
  silent out
  expect 2 "$tool"
  says "expected"
  expect 2 "$tool" ''
  expect 2 "$tool" a b c d ''
  expect 2 "$tool" a.csr --json --json
  says "--json is given 2 times"
  expect 2 "$tool" a.csr --quiet --verbose
  expect 2 "$tool" --help=3
  expect 2 "$tool" -z
  expect 2 "$tool" --versoin
  says "did you mean --version?"
done
for tool in csr-import csr-export csr-reorder; do
  expect 2 "$tool" only_one
  expect 2 "$tool" one two three
  says "'three'"
done
for value in 0 -1 1e9x '' 2147483648 ' 3' 3.5 0x10 99999999999999999999; do
  expect 2 csr-spmm-cpu a.csr --dense-cols "$value"
  says "--dense-cols"
  expect 2 csr-bench a.csr --dense-cols "$value"
done
expect 2 csr-spmm-cpu a.csr --dense-cols
says "needs a value"
expect 2 csr-spmm-cpu a.csr --output --check
says "found the option '--check'"
for value in 0 1.5G 8X '' -1 G 99999999999T; do
  expect 2 csr-spmm-cpu a.csr --memory-limit "$value"
  says "--memory-limit"
done
for value in nan inf '' 1,5 x; do
  expect 2 csr-spmm-cpu a.csr --alpha "$value"
  says "--alpha"
done
expect 2 csr-spmm-cpu a.csr --kernel no_such_kernel
says "nnz_balanced"
expect 2 csr-spmm-cpu a.csr --semiring plus
expect 2 csr-spmm-cpu a.csr --check=most
expect 2 csr-spmm-cpu a.csr --schedule random
expect 2 csr-import a b --duplicates=last
expect 2 csr-import a b --values=zero
expect 2 csr-import a b --self-loops=maybe
expect 2 csr-import a b --base=2
expect 2 csr-import a b --value-kind=none --gcn-normalize
expect 2 csr-import a b --format=no-such-format
expect 2 csr-reorder a b
says "expected one of --method NAME"
expect 2 csr-reorder a b --method rcm --undo
expect 2 csr-reorder a b --method rcm --descending
expect 2 csr-reorder a b --method rcm --parts 4
expect 2 csr-generate rmat
expect 2 csr-generate rmat a.csr --set scale
expect 2 csr-generate rmat a.csr --set scale=3 --set scale=4
expect 2 csr-generate rmat a.csr --set no_such_parameter=3
expect 2 csr-generate no-such-pattern a.csr
expect 2 csr-generate --like no-such-dataset a.csr
expect 2 csr-generate rmat --like arxiv a.csr
expect 2 csr-info a.csr --verify --python
expect 2 csr-bench a.csr --resume
expect 2 csr-bench a.csr --kernels auto
says "does not say where"
expect 2 csr-bench a.csr --kernels cpu.auto,cpu.auto
expect 2 csr-bench a.csr --kernels cpu.auto,
expect 2 csr-bench a.csr a.csr
expect 2 csr-bench a.csr --against cpu.row_loop
no_file a b
# An output of another format never takes the place of its own input.
tiny_mtx >kept.mtx
csr-import kept.mtx kept.csr --quiet
cp kept.mtx copy.mtx
cp kept.csr copy.csr
ln -s kept.csr link.csr
expect 2 csr-import kept.mtx ./kept.mtx
says "would be lost"
expect 2 csr-export kept.csr link.csr --format matrix-market
expect 2 csr-spmm-cpu link.csr --output kept.csr
cmp kept.mtx copy.mtx
cmp kept.csr copy.csr
