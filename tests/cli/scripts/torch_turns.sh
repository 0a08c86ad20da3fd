# shellcheck shell=bash
# torch_turns.py says what it lacks: a package, a GPU; an output that is there stays.
script=$CLI_FOLDER/../../run_scripts/measure/torch_turns.py
mkdir without
echo 'raise ImportError("No module named torch")' >without/torch.py
expect 77 env PYTHONPATH=without python3 "$script" products karate.csr
grep -qF "torch_turns.py: PyTorch or csrkit is not installed" err || fail "what is missing is not named"

python=$(python_with torch) || { echo "no Python with PyTorch"; exit 6; }
unpack_package
export PYTHONPATH=$PWD/site
touch there.tsv
expect 2 "$python" "$script" products karate.csr --out there.tsv
grep -q "exists already; --force replaces it" err || fail "a table was to be replaced"
if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
  expect 6 "$python" "$script" products karate.csr
fi
