# shellcheck shell=bash
# The operators of csrkit.torch, with the PyTorch of this machine, or with those of the Pythons in
# CSRKIT_TORCH_PYTHONS (paths, with colons between).
prefix=$(cd "$(dirname "$(command -v csr-bench)")/.." && pwd)
pythons=${CSRKIT_TORCH_PYTHONS:-$(python_with torch || true)}
if [ -z "$pythons" ]; then echo "no Python with PyTorch"; exit 6; fi
# Some versions of PyTorch bring an OpenMP library that is older than ours: the whole wheel has its own.
whole=--local
if command -v auditwheel >/dev/null && command -v patchelf >/dev/null; then whole=; fi
"$CLI_FOLDER/../../run_scripts/make_wheel.py" "$prefix" wheels $whole >/dev/null
python3 -m zipfile -e wheels/*.whl site
for python in ${pythons//:/ }; do
  expect 0 env PYTHONPATH=site "$python" -W ignore "$CLI_FOLDER/../../python/tests/torch_test.py"
done
