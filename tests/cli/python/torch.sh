# shellcheck shell=bash
# The operators of csrkit.torch, with the PyTorch of this machine, or with those of the Pythons in
# CSRKIT_TORCH_PYTHONS (paths, with colons between).
pythons=${CSRKIT_TORCH_PYTHONS:-$(python_with torch || true)}
if [ -z "$pythons" ]; then echo "no Python with PyTorch"; exit 6; fi
unpack_package
for python in ${pythons//:/ }; do
  for test in torch gpu; do
    expect 0 env PYTHONPATH=site "$python" -W ignore "$CLI_FOLDER/../../python/tests/${test}_test.py"
  done
done
