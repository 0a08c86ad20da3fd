# shellcheck shell=bash
# Orders add up: in one run, over several, and for the operands that go with them.
csr-import "$DATASETS/cora.mtx.gz" cora.csr --values=random --quiet
expect 0 csr-reorder cora.csr chained.csr --method random --then community --then degree --binned --json
equals "$(json method)" "random, then community, then degree"
csr-reorder cora.csr step.csr --method random --quiet
csr-reorder --force step.csr step.csr --method community --quiet
csr-reorder --force step.csr step.csr --method degree --binned --quiet
same_matrix chained.csr step.csr
csr-reorder chained.csr back.csr --undo --quiet
same_matrix cora.csr back.csr
expect 0 csr-info chained.csr --provenance
python3 -c '
import json
step = json.load(open("out"))["steps"][-1]
assert step["details"]["methods"] == ["random", "community", "degree"], step
assert step["details"]["sides"] == "both" and "import" in step["details"]["direction"], step'

# (PAP^T)(PB) = P(AB): what the reordered matrix makes of the moved operand comes back as A B.
python3 - <<'END'
import struct
rows, cols = 2708, 3
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, cols)
header += " " * (-(len(header) + 11) % 64) + "\n"
with open("b.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<%dd" % (rows * cols), *(float(i % 17 - 8) for i in range(rows * cols))))
END
csr-reorder chained.csr moved_b.npy --apply-to b.npy --quiet
expect 0 csr-reorder chained.csr b_again.npy --apply-to moved_b.npy --undo
prints "that at import"
cmp b.npy b_again.npy || fail "an operand did not come back"
if cmp -s b.npy moved_b.npy; then fail "the operand did not move"; fi
csr-spmm-cpu cora.csr --dense-cols 3 --value-kind f64 --input b.npy --output c.npy \
  --repeat 1 --quiet
csr-spmm-cpu chained.csr --dense-cols 3 --value-kind f64 --input moved_b.npy \
  --output moved_c.npy --repeat 1 --quiet
csr-reorder chained.csr c_again.npy --apply-to moved_c.npy --undo --quiet
python3 - <<'END'
import struct
def read(path):
    data = open(path, "rb").read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack("<%dd" % ((len(data) - at) // 8), data[at:])
a, b = read("c.npy"), read("c_again.npy")
assert len(a) == len(b) == 2708 * 3
assert all(abs(x - y) <= 1e-12 * max(1, abs(x)) for x, y in zip(a, b)), "products differ"
END

# Rows and columns in different orders: the side has to be named.
csr-reorder cora.csr two.csr --method random --sides=rows --quiet
csr-reorder --force two.csr two.csr --method degree --sides=cols --quiet
expect 2 csr-reorder two.csr fresh.npy --apply-to b.npy
says "--sides=cols for B"
expect 0 csr-reorder --force two.csr fresh.npy --apply-to b.npy --sides=cols
rm fresh.npy
expect 2 csr-reorder cora.csr fresh.npy --apply-to b.npy
says "'cora.csr' holds no order to apply: its rows and columns are in the order of import; use the operand as it is"
expect 2 csr-reorder two.csr fresh.npy --apply-to b.npy --method rcm
expect 2 csr-reorder two.csr two.csr --apply-to b.npy --sides=rows
expect 2 csr-reorder two.csr fresh.csr --undo --then rcm
expect 2 csr-reorder two.csr fresh.csr --method rcm --then degree --parts 4
expect 2 csr-reorder two.csr fresh.csr --method rcm --then nothing
expect 5 csr-reorder two.csr fresh.csr --method community --memory-limit 4K
says "4096"
no_file fresh
