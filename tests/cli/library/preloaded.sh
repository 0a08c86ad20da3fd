# shellcheck shell=bash
# Libraries that are opened at run time are found where a sanitizer or a profiler has put a function of its
# own before the loader's: the loader then looks where that one's library looks, not where ours does.
command -v cc >/dev/null || { echo "cc is not there"; exit 6; }
cat >dlopen.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
void* dlopen(const char* name, int flags) {
  void* (*const next)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  void* volatile opened = next(name, flags);
  return opened;
}
END
cc -shared -fPIC dlopen.c -o libdlopen.so -ldl
csr-generate rmat graph.csr --set scale=6 --quiet
if has_gpu_code; then
  env LD_PRELOAD="$PWD/libdlopen.so" csr-spmm-gpu graph.csr --repeat 1 >out 2>err || true
  if grep 'libcsrkit_gpu' err; then fail "libcsrkit_gpu was not found"; fi
fi
needs_mpi
expect 0 mpi 2 -x LD_PRELOAD="$PWD/libdlopen.so" csr-spmm-dist graph.csr -k 3 --repeat 1 --check
