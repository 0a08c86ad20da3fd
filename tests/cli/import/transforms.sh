# shellcheck shell=bash
# Changes at import, on a matrix that a person can check.
printf '1 2\n2 3\n2 2\n' >edges.txt
shape() { # shape EXPECTED_NNZ EXPECTED_SYMMETRY OPTION...
  local nnz=$1 symmetric=$2
  shift 2
  expect 0 csr-import --force edges.txt out.csr --format=edge-list --base=1 --json "$@"
  equals "$(json nnz)" "$nnz"
  equals "$(json symmetric)" "$symmetric"
  csr-info out.csr --verify --quiet
}
shape 3 no
shape 5 yes --symmetrize
shape 5 no --self-loops=add
shape 2 no --self-loops=drop
shape 4 yes --symmetrize --self-loops=drop
shape 3 no --transpose
shape 5 "pattern only" --symmetrize --values=random --seed=3
shape 5 yes --symmetrize --values=ones --value-kind=f64
equals "$(json value_kind)" f64
shape 7 yes --symmetrize --self-loops=add --gcn-normalize
equals "$(json value_kind)" f32
# The transpose of a .csr file: through text that keeps the kind of the values, there and back.
csr-import edges.txt a.csr --format=edge-list --values=random --value-kind=bf16 --quiet
csr-export a.csr a.mtx --quiet
csr-import a.mtx at.csr --transpose --quiet
csr-export at.csr - --format matrix-market --quiet | csr-import - again.csr --transpose --quiet
same_matrix a.csr again.csr
if cmp -s a.csr at.csr; then fail "--transpose has left everything as it was"; fi
rm a.csr
csr-import edges.txt a.csr --format=edge-list --rows 10 --cols 12 --json >out
equals "$(json rows) $(json cols)" "10 12"
csr-import edges.txt b.csr --format=edge-list --values=random --seed=3 --quiet
csr-import edges.txt c.csr --format=edge-list --values=random --seed=3 --quiet
same_matrix b.csr c.csr
# In place: the input may be the output.
cp b.csr d.csr
csr-reorder --force d.csr d.csr --method degree --quiet
csr-reorder --force d.csr d.csr --undo --quiet
same_matrix b.csr d.csr
# A step that the matrix does not suit names the file.
printf '1 2\n3 4\n' >wide.txt
expect 2 csr-import wide.txt none.csr --format=edge-list --base=1 --rows 3 --cols 5 --symmetrize
says "wide.txt: symmetrize needs a square matrix; this one is 3 x 5"
no_file none
# What a step makes of values is told as well.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 60000\n1 2 6e-8\n2 1 60000\n' >steep.mtx
expect 0 csr-import steep.mtx steep.csr --value-kind f16 --gcn-normalize --json
says "steep.mtx: 1 value too small for f16, the first from 5.96046e-08 in row 0, column 1 (counted from 0); --gcn-normalize makes them 0"
equals "$(json underflows)" 1
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 60000\n2 2 6e-8\n' >steep.mtx
expect 3 csr-import steep.mtx none.csr --value-kind f16 --gcn-normalize
says "steep.mtx: gcn-normalize: expected results within the range of f16, found a larger one from 60000 in row 0, column 1"
no_file none
