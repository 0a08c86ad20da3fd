# shellcheck shell=bash
# The lines that --python prints map the arrays.
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "no Python with NumPy"
  exit 6
fi
tiny_mtx >tiny.mtx
for kind in none f32 f64 f16 bf16; do
  csr-import tiny.mtx "it's.csr" --value-kind "$kind" --force --quiet
  csr-info "it's.csr" --python >map.py
  cat >>map.py <<'EOF'
import sys
dense = np.zeros(shape)
for row in range(shape[0]):
    for at in range(row_offsets[row], row_offsets[row + 1]):
        dense[row, col_indices[at]] = values[at]
expected = np.array([[1.5, 0, -2, 0], [0, 3, 0, 0], [0, 0, 0, 0], [4, 0, 0.25, -1]])
assert (dense == (expected if sys.argv[1] != 'none' else expected != 0)).all(), dense
EOF
  "$python" map.py "$kind"
done
# Names that are no text, and one beyond the first 65,536 characters.
for name in $'\360\237\230\200.csr' $'\377 "\\n.csr'; do
  cp "it's.csr" "$name"
  csr-info "$name" --python >map.py
  "$python" map.py
done
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 0\n' >empty.mtx
csr-import empty.mtx empty.csr --quiet
csr-info empty.csr --python >map.py
echo 'assert len(row_offsets) == 4 and len(col_indices) == 0 == len(values)' >>map.py
"$python" map.py
