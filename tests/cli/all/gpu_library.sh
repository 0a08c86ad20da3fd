# shellcheck shell=bash
# What is in the way of the GPU is said, whatever it is; what needs no GPU works all the same.
bin=$(dirname "$(command -v csr-bench)")
library=$(dirname "$(realpath "$bin"/../lib*/libcsrkit.so)")
mkdir -p here/bin "here/$(basename "$library")"
copies=here/$(basename "$library")
cp "$bin"/csr-{spmm-gpu,spmv-gpu,spgemm-gpu,solve-gpu,bench,forecast,generate} here/bin
cp -P "$library"/libcsrkit.so.* "$copies"
PATH=$PWD/here/bin:$PATH
csr-generate rmat graph.csr --set scale=6 --quiet

refuses() { # refuses REASON
  for command in "csr-spmm-gpu graph.csr" "csr-spmv-gpu graph.csr" "csr-spgemm-gpu graph.csr" "csr-solve-gpu graph.csr" \
    "csr-spmm-gpu --list" "csr-bench graph.csr --kernels cpu.auto,gpu.auto" "csr-forecast graph.csr --device gpu"; do
    # shellcheck disable=SC2086 # words
    expect 6 $command
    says "needs the GPU library: "
    says "$1"
    silent out
  done
}
works() { # works REASON: lists hold the CPU's kernels, and say why they lack the others
  for tool in csr-bench csr-forecast; do
    expect 0 "$tool" --list
    prints cpu.spmm.auto
    if grep -q 'gpu\.' out; then fail "$tool lists kernels that it cannot run"; fi
    if [ -n "$1" ]; then says "$1"; else silent err; fi
  done
  expect 0 csr-bench graph.csr --repeat 2 --check
  silent err
}

if ! has_gpu_code; then # whatever lies there
  refuses "this build has no GPU code; build with -DCSRKIT_CUDA=ON"
  works ""
  exit 0
fi
refuses "cannot open shared object file"
says "install it beside libcsrkit"
works "install it beside libcsrkit"
# A library of that name with nothing of ours in it is of another build, as far as anybody can tell.
name=$(basename "$(echo "$copies"/libcsrkit.so.?.?)")
cp "$copies/$name" "$copies/${name/csrkit/csrkit_gpu}"
refuses "is of another build than this program"
works "is of another build than this program"
# One that needs a library of CUDA which this machine has not.
if command -v cc >/dev/null; then
  echo 'int f(void) { return 0; }' >f.c
  cc -shared -fPIC f.c -o libcudart-of-nowhere.so -Wl,-soname,libcudart-of-nowhere.so
  cc -shared -fPIC -Wl,--no-as-needed f.c -o "$copies/${name/csrkit/csrkit_gpu}" ./libcudart-of-nowhere.so
  rm libcudart-of-nowhere.so
  refuses "libcudart-of-nowhere.so: cannot open shared object file"
  says "put CUDA's libraries where the loader looks"
fi
