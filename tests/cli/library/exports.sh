# shellcheck shell=bash
# The libraries offer names of this project and nothing else, and every function of csrkit.h; they run
# where they are put.
command -v nm >/dev/null || { echo "nm is not there"; exit 6; }
prefix=$(cd "$(dirname "$(command -v csr-bench)")/.." && pwd)
for library in "$prefix"/lib*/libcsrkit*.so.*.*.*; do
  nm -D --defined-only -C "$library" | cut -d' ' -f3- >names
  if grep -v csrkit names >foreign; then cat foreign && fail "$library offers names of others"; fi
  # shellcheck disable=SC2016 # the loader's word
  if readelf -d "$library" | grep -E 'R(UN)?PATH' | grep -v '\[\$ORIGIN'; then
    fail "$library looks for libraries where it was built"
  fi
done
nm -D --defined-only "$prefix"/lib*/libcsrkit.so | sed -n 's/.* T \(csrkit_[a-z_]*\)$/\1/p' | sort >offered
grep -oE '\bcsrkit_[a-z_]+\(' "$prefix/include/csrkit.h" | tr -d '(' | sort -u >promised
diff promised offered || fail "csrkit.h and libcsrkit do not agree"
