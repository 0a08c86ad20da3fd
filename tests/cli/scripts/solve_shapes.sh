# shellcheck shell=bash
# The search over shapes of tiles with a tool that only pretends, and for real where there is a GPU.
script=$CLI_FOLDER/../../run_scripts/measure/solve_shapes.py
mkdir pretended
cat >pretended/csr-solve-gpu <<'TOOL'
#!/usr/bin/env bash
echo "$*" >>"$(dirname "$0")/calls"
echo '{"iterations": 4, "samples_seconds": [0.4, 0.8]}'
exit 1
TOOL
chmod +x pretended/csr-solve-gpu
search() { "$script" --records shapes.jsonl --sizes 100,200 --shapes 32x128,64x256 "$@"; }
expect 0 search --tools pretended
equals "$(wc -l <shapes.jsonl)" 4
grep -qF '"tile": 64, "block": 256, "seconds": [0.1, 0.2]' shapes.jsonl || fail "another record was expected"
grep -qF -- '--product half:64x256' pretended/calls || fail "another shape was expected"
expect 0 search --tools pretended
equals "$(wc -l <pretended/calls)" 4
rm shapes.jsonl
if csr-solve-gpu --generate-dense 4 --quiet 2>/dev/null; then
  expect 0 search --tools "$(dirname "$(command -v csr-solve-gpu)")" --iterations 5 --repeat 1
  equals "$(wc -l <shapes.jsonl)" 4
fi
