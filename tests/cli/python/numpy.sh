# shellcheck shell=bash
# The package beside NumPy and SciPy: those of this machine, or of the package index.
python=$(python_with numpy scipy) || {
  if ! { python3 -m venv own && own/bin/pip install --quiet numpy scipy; } 2>err; then
    echo "neither NumPy nor an index: $(cat err)"
    exit 6
  fi
  python=own/bin/python
}
unpack_package
expect 0 env PYTHONPATH=site "$python" "$CLI_FOLDER/../../python/tests/numpy_test.py"
