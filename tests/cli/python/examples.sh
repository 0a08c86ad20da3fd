# shellcheck shell=bash
# The examples in Python: one needs nothing but csrkit, one PyTorch, and says whether its losses are torch's.
examples=$CLI_FOLDER/../../examples
unpack_package
export PYTHONPATH=$PWD/site
tiny_mtx >tiny.mtx
for kind in f32 auto; do # auto: f64, as text has it
  expect 0 csr-import tiny.mtx tiny.csr --value-kind $kind --quiet --force
  expect 0 python3 "$examples/multiply.py" tiny.csr
  equals "$(cat out)" "4 x 4, 6 nonzeros; row 0 of the product: -0.5 -1 -1.5 -2"
done
expect 1 python3 "$examples/multiply.py" nowhere.csr
grep -q '^multiply.py: error: .*nowhere.csr' err || fail "the missing file is not named"

pythons=${CSRKIT_TORCH_PYTHONS:-$(python_with torch || true)}
if [ -z "$pythons" ]; then echo "multiply.py runs; no Python with PyTorch for those that train"; exit 6; fi
expect 0 csr-import "$DATASETS/cora.mtx.gz" cora.csr --symmetrize --self-loops=add --values=ones --gcn-normalize --quiet
for python in ${pythons//:/ }; do
  for example in gcn graphsage gat; do
    expect 0 "$python" -W ignore "$examples/$example.py" cora.csr 4
    prints "largest difference"
  done
done
expect 1 "$python" -W ignore "$examples/gat.py"
grep -q '^usage: gat.py GRAPH.csr' err || fail "no usage is shown"
