# shellcheck shell=bash
# Solvers in turn with a tool that only pretends, the rows of the pages that come of its records, and, where there is a GPU,
# one system for real.
script=$CLI_FOLDER/../../run_scripts/measure/solve_turns.py
mkdir pretended
ln -s "$(command -v csr-generate)" pretended/
cat >pretended/csr-solve-gpu <<'TOOL'
#!/usr/bin/env bash
seconds=0.2
case "$*" in
*--version*) echo "commit: abc"; exit ;;
*--verbose*) echo "debug: runs on Some GPU" >&2; exit ;;
*vendor_cublas*) seconds=0.6 ;;
esac
echo "{\"kernel\": \"gpu.solve.auto\", \"rows\": 400, \"nnz\": 1920, \"precision\": \"f64\", \"iterations\": 100,
  \"samples_seconds\": [$seconds, $seconds, $seconds], \"median_seconds\": $seconds, \"phases\": {\"analysis_seconds\": 1},
  \"kernel_run\": \"one_pass\", \"choice\": \"products: stencil (because so)\",
  \"columns\": [{\"true_norm\": 1e-9, \"rhs_norm\": 1}]}"
TOOL
chmod +x pretended/csr-solve-gpu
turns() { "$script" --records "$1.jsonl" --sparse "$2" --refined "$3" --dense "$4" --rounds 2 --tools pretended; }
expect 0 turns all 20 20 128
equals "$(wc -l <all.jsonl)" 18
grep -qF '"name": "Some GPU"' all.jsonl || fail "the GPU is not named"
rows() { "$CLI_FOLDER/../../run_scripts/pages/solve_table.py" "$@"; }
for kind in sparse refined dense; do
  expect 0 rows $kind all.jsonl
  grep -q '^| 20 x 20\|^| 400 ' out || fail "no row of $kind"
done
expect 0 rows sparse all.jsonl
prints "2000"
prints "3.00"
if csr-solve-gpu --generate-dense 4 --quiet 2>/dev/null; then
  expect 0 "$script" --records real.jsonl --sparse 20 --refined 20 --dense 64 --rounds 1 --tools "$(dirname "$(command -v csr-solve-gpu)")"
  equals "$(wc -l <real.jsonl)" 9
fi
