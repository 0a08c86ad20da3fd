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
pickle.dump(A, open("a.pkl", "wb"))
scipy.io.hb_write("a.rb", A)
A.tocsr()
# PETSc's binary format, written from its description.
R = A.tocsr()
with open("a.dat", "wb") as file:
    numpy.array([1211216, *R.shape, R.nnz, *numpy.diff(R.indptr), *R.indices], ">i4").tofile(file)
    R.data.astype(">f8").tofile(file)
END
for name in west.mat a.pkl a.rb; do
  expect 3 csr-import $name no.csr
  says "which csrkit does not read; Python converts it:"
  sed -n 's/^  //p' err >convert.py
  equals "$(wc -l <convert.py)" 2
  "$python" convert.py
  csr-import $name.npz $name.csr --quiet
  same_matrix $name.csr tiny.csr
done
iconv -f UTF-8 -t UTF-16 tiny.mtx >wide.mtx
expect 3 csr-import wide.mtx no.csr
says "text in UTF-16"
sed -n 's/^  //p' err >convert.py
"$python" convert.py
csr-import wide.mtx.txt wide.csr --quiet
same_matrix wide.csr tiny.csr
expect 0 csr-import a.dat petsc.csr
same_matrix petsc.csr tiny.csr
csr-export tiny.csr back.petsc --quiet
cmp back.petsc a.dat || fail "csr-export writes PETSc's format in another way"
no_file no.csr
