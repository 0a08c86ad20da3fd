# shellcheck shell=bash
# The build id changes with the headers that libraries share and with the compiler, the analysis id with every source of
# the GPU's kernels, too: what another build saved is refused. A header that is right is not written again.
mkdir -p tree/core/base tree/gpu/device tree/gpu/spmm
echo 'struct A;' >tree/core/base/a.h
echo 'struct B;' >tree/gpu/face.h
echo 'void k();' >tree/gpu/spmm/k.cu
ids() { # ids COMPILER
  cmake -DSOURCE="$PWD/tree" -DHEADER="$PWD/build.h" -DANALYSIS_HEADER="$PWD/analysis.h" "-DCOMPILER=$1" \
    -P "$CLI_FOLDER/../../cmake/build_id.cmake"
  grep -qE '^#define CSRKIT_BUILD_ID "[0-9a-f]{32}"$' build.h || fail "$(cat build.h)"
  grep -qE '^#define CSRKIT_ANALYSIS_ID "[0-9a-f]{32}"$' analysis.h || fail "$(cat analysis.h)"
}
changed() { # changed FILE yes|no: since the last call of kept
  local found=no
  cmp -s "$1" "$1.before" || found=yes
  equals "$1 $found" "$1 $2"
}
kept() { for file in build.h analysis.h; do cp "$file" "$file.before"; done; }
ids one
kept
touch -d 2001-01-01 build.h analysis.h
ids one
changed build.h no
changed analysis.h no
[ ! build.h -nt tree/gpu/face.h ] || fail "build.h was written again"
echo 'void k(int);' >tree/gpu/spmm/k.cu
ids one
changed build.h no
changed analysis.h yes
kept
echo 'struct B {};' >tree/gpu/face.h
ids one
changed build.h yes
changed analysis.h yes
kept
ids two
changed build.h yes
changed analysis.h yes
