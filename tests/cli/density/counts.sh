# shellcheck shell=bash
# Rectangles, dense tiles, cuts and pictures of a small matrix that a person can count.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 0 csr-density tiny.csr --grid 2x2 --json --rectangle 0:2,0:2 --rectangle 0:4,0:4 --rectangle 1:4,1:4 --densest 1
equals "$(json nnz)" 6
equals "$(json rectangles.0.nnz)" 2
equals "$(json rectangles.0.nonzeros)" 2 # its older name
equals "$(json rectangles.0.from)" table
equals "$(json rectangles.1.nnz)" 6
equals "$(json rectangles.2.nnz)" 3
equals "$(json rectangles.2.from)" search
equals "$(json densest.0.nnz)" 2
expect 0 csr-density tiny.csr --grid 1000x1000 --json --partition 2x2
equals "$(json grid)" "[4, 4]"
equals "$(json row_cuts.0)" 0
equals "$(json row_cuts.2)" 4
csr-generate rmat graph.csr --set scale=9 --quiet
expect 0 csr-density graph.csr --spy graph.png --pixels 64
prints "64 x 64 pixels"
expect 0 csr-info graph.csr --spy again.png --pixels 64
cmp graph.png again.png
expect 0 csr-info tiny.csr --spy tiny.png
prints "4 x 4 pixels" # never more than one for a row or column
if has_matplotlib; then
  python=python3
  python3 -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
  $python - <<'EOF'
import matplotlib.image
picture = matplotlib.image.imread("tiny.png")
assert picture.shape[:2] == (4, 4), picture.shape
white = (picture[..., :3] == 1).all(axis=2)
assert (~white).sum() == 6 and white[2].all(), white
EOF
fi
expect 2 csr-density tiny.csr --grid 2
expect 2 csr-density tiny.csr --grid 0x2
expect 2 csr-density tiny.csr --rectangle 0:5,0:4
expect 2 csr-density tiny.csr --rectangle 0-4,0:4
expect 2 csr-density tiny.csr --partition 5x1
expect 2 csr-density tiny.csr --pixels 10
expect 2 csr-density tiny.csr --spy tiny.csr
expect 2 csr-info tiny.csr --spy a.png --verify
no_file a.png
# The table of a GPU holds the same numbers; where there is none, the tool says what is in the way.
code=0
csr-density graph.csr --device gpu --json --densest 5 --partition 2x2 >out 2>err || code=$?
case $code in
  0) json densest >gpu.densest && expect 0 csr-density graph.csr --json --densest 5 --partition 2x2
     equals "$(json densest)" "$(cat gpu.densest)" ;;
  6) if has_gpu_code; then says "no usable GPU"; else says "this build has no GPU code"; fi ;;
  *) fail "code $code" ;;
esac
