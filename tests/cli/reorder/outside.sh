# shellcheck shell=bash
# Orders and partitions of other programs: SciPy's RCM moves the matrix as SciPy moves it, parts are kept.
python=$(python_with numpy scipy) || { echo "no Python with NumPy and SciPy"; exit 6; }
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-export karate.csr karate.npz --quiet
"$python" - <<'END'
import numpy, scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
A = scipy.sparse.load_npz("karate.npz").tocsr()
p = reverse_cuthill_mckee(A, symmetric_mode=True)
numpy.save("p.npy", p)
numpy.savetxt("inverse.txt", numpy.argsort(p), fmt="%d")
scipy.sparse.save_npz("expected.npz", A[p][:, p])
END
csr-import expected.npz expected.csr --quiet
expect 0 csr-reorder karate.csr ordered.csr --order-from p.npy
same_matrix ordered.csr expected.csr
expect 0 csr-reorder --force karate.csr ordered.csr --order-from inverse.txt --order-is new-of-old
same_matrix ordered.csr expected.csr
csr-reorder ordered.csr back.csr --undo --quiet
same_matrix back.csr karate.csr
# The groups of community are parts; given back as a file of numbers, they are worth the same.
expect 0 csr-reorder karate.csr community.csr --method community --json
modularity=$(json modularity)
"$python" -c "assert 0.2 < $modularity < 0.43"
seq 34 | awk '{ print ($1 > 17) }' >halves.txt
expect 0 csr-reorder karate.csr halves.csr --partition-from halves.txt --then degree --json
equals "$(json parts)" 2
csr-info halves.csr --provenance --json >out
grep -q halves.txt out || fail "the file of the parts is not in the history"
python3 - <<'END'
header = "{'descr': '|u1', 'fortran_order': False, 'shape': (33,), }"
header += " " * (117 - len(header)) + "\n"
open("short.npy", "wb").write(b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(range(33)))
END
for option in --order-from --partition-from; do
  expect 3 csr-reorder karate.csr no.csr $option short.npy
  says "expected 34 elements, one for each row, found shape (33)"
done
head -n 33 halves.txt >short.txt
expect 3 csr-reorder karate.csr no.csr --partition-from short.txt
says "expected 34 numbers"
sed 's/1/34/' halves.txt >many.txt
expect 3 csr-reorder karate.csr no.csr --partition-from many.txt
says 'many.txt:18: expected one number from 0 to 33, found "34"'
seq 34 | awk '{ print 1 + ($1 > 17) }' >from_one.txt
expect 0 csr-reorder karate.csr halves.csr --partition-from from_one.txt --force
says "from_one.txt: no row is in part 0, so it is empty; parts count from 0"
printf '%s\n' 0 0 | cat - halves.txt | head -n 34 >twice.txt
expect 3 csr-reorder karate.csr no.csr --order-from twice.txt
expect 2 csr-reorder karate.csr no.csr --order-from p.npy --method rcm
expect 2 csr-reorder karate.csr no.csr --method rcm --order-is new-of-old
expect 2 csr-reorder karate.csr no.csr --partition-from halves.txt --sides=cols
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --quiet
expect 2 csr-reorder wide.csr no.csr --order-from p.npy --sides=both
says "needs a square matrix"
expect 3 csr-reorder wide.csr no.csr --order-from short.npy --sides=cols
says "expected 51 elements, one for each column, found shape (33)"
no_file no.csr
