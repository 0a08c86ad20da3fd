# shellcheck shell=bash
# Real files of other programs: what csr-import says of them works when Python runs it, and PETSc comes back.
python=$(python_with numpy scipy) || { echo "no Python with NumPy and SciPy"; exit 6; }
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
"$python" - <<'END'
import pickle
import numpy, scipy.io, scipy.sparse
A = scipy.io.mmread("tiny.mtx").tocsc()
scipy.io.savemat("west.mat", {"A": A})
scipy.io.savemat("dense.mat", {"A": A.toarray()})
pickle.dump(A, open("a.pkl", "wb"))
scipy.io.hb_write("a.rb", A)
A.tocsr()
# PETSc's binary format, written from its description.
R = A.tocsr()
with open("a.dat", "wb") as file:
    numpy.array([1211216, *R.shape, R.nnz, *numpy.diff(R.indptr), *R.indices], ">i4").tofile(file)
    R.data.astype(">f8").tofile(file)
END
for name in west.mat dense.mat a.pkl a.rb; do
  expect 3 csr-import $name no.csr
  says "which csrkit does not read; Python converts it:"
  sed -n 's/^  //p' err >convert.py
  equals "$(wc -l <convert.py)" 2
  "$python" convert.py
  csr-import $name.npz $name.csr --quiet
  same_matrix $name.csr tiny.csr
done
# SciPy reads Harwell-Boeing files of one symmetry only; those of others are made such before.
"$python" - <<'END'
import scipy.io, scipy.sparse
A = scipy.sparse.csc_matrix([[4.0, 0, -1], [0, 2, 0.5], [-1, 0.5, 3]])
wide = scipy.sparse.csc_matrix([[1.0, 0, 2, 0], [0, -3, 0, 0.25]])
for name, matrix, stored, kind in ("rsa", A, scipy.sparse.tril(A), "RSA"), ("rra", wide, wide, "rra"):
    scipy.io.mmwrite(name + ".mtx", matrix, symmetry="general")
    scipy.io.hb_write(name + ".rb", scipy.sparse.csc_matrix(stored))
    text = open(name + ".rb").read()
    open(name + ".rb", "w").write(text.replace("RUA", kind).replace("rua", kind))
END
for name in rsa rra; do
  expect 3 csr-import $name.rb no.csr
  sed -n 's/^  //p' err >convert.py
  "$python" convert.py
  csr-import $name.rb.npz $name.csr --quiet
  csr-import $name.mtx whole.csr --quiet --force
  same_matrix $name.csr whole.csr
done
# A DIMACS graph says its size in its header alone: nodes without edges at the end stay. The weight is the last number.
printf '%s\n' 'c colours' 'p edge 5 2' 'e 1 2' 'e 3 1' >colours
printf '%s\n' 'p sp 5 2' '' 'a 1 2 7' 'a 3 1 0.5' >roads
printf '%s\n' 'p min 5 2' 'n 1 4' 'n 2 -4' 'a 1 2 0 9 7' 'a 3 1 0 9 0.5' >flow
printf '%s\n' 'p sp 5 0' >no_edges
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '5 5 2' '1 2' '3 1' >colours.wanted
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '5 5 2' '1 2 7' '3 1 0.5' | tee roads.wanted >flow.wanted
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '5 5 0' >no_edges.wanted
for name in colours roads flow no_edges; do
  expect 3 csr-import $name no.csr
  sed -n 's/^  //p' err >convert.py
  python3 convert.py
  cmp $name.mtx $name.wanted
  expect 0 csr-import $name.mtx $name.csr
done
# Rows and columns without entries at the end stay: in files of MATLAB 7.3 and of AnnData, which only h5py reads.
if hdf5=$(python_with numpy scipy h5py); then
  printf '%s\n' '%%MatrixMarket matrix coordinate real general' '6 9 2' '1 1 2.5' '2 4 -1' >wide.mtx
  csr-import wide.mtx wide.csr --quiet
  "$hdf5" - <<'END'
import h5py, numpy, scipy.io
A = scipy.io.mmread("wide.mtx").tocsc()
with h5py.File("new.mat", "w") as file:
    group = file.create_group("A")
    group.attrs["MATLAB_sparse"] = numpy.uint64(A.shape[0])
    for name, array in ("data", A.data), ("ir", A.indices.astype("u8")), ("jc", A.indptr.astype("u8")):
        group[name] = array
R = A.tocsr()
with h5py.File("cells.h5ad", "w") as file:
    group = file.create_group("X")
    group.attrs["shape"] = R.shape
    for name, array in ("data", R.data), ("indices", R.indices), ("indptr", R.indptr):
        group[name] = array
END
  for name in new.mat cells.h5ad; do
    expect 3 csr-import $name no.csr
    sed -n 's/^  //p' err >convert.py
    "$hdf5" convert.py
    csr-import $name.npz $name.csr --quiet
    same_matrix $name.csr wide.csr
  done
fi
iconv -f UTF-8 -t UTF-16 tiny.mtx >utf16.mtx
expect 3 csr-import utf16.mtx no.csr
says "text in UTF-16"
sed -n 's/^  //p' err >convert.py
"$python" convert.py
csr-import utf16.mtx.txt utf16.csr --quiet
same_matrix utf16.csr tiny.csr
expect 0 csr-import a.dat petsc.csr
same_matrix petsc.csr tiny.csr
csr-export tiny.csr back.petsc --quiet
cmp back.petsc a.dat || fail "csr-export writes PETSc's format in another way"
no_file no.csr
