# shellcheck shell=bash
# gpu_check.sh with stand-ins for CMake, the GPU tests and the sanitizer: what it runs, and that one
# failure is the script's.
script=$(realpath "$CLI_FOLDER/../../run_scripts/measure/gpu_check.sh")
mkdir -p shims build/tools build/tests
for tool in csr-import csr-bench; do
  printf '#!/bin/sh\necho %s "$@"\n' $tool >build/tools/$tool
done
printf '#!/bin/sh\necho "commit: 0123456789ab"\n' >build/tools/csr-info
for operation in spmm spmv spgemm sddmm solve; do
  printf '%s\n' '#!/bin/sh' "echo '{\"rows\": []}'" >build/tools/csr-$operation-gpu
done
cat >build/tests/gpu <<'END'
#!/bin/sh
case $* in *--gtest_list_tests*) printf 'SanitizerGpuSpmm.\n  Small/auto\n' ;; esac
END
printf '#!/bin/sh\nexit 0\n' >shims/cmake
# shellcheck disable=SC2016 # the stand-in's own argument
printf '#!/bin/sh\n[ "$2" != racecheck ]\n' >shims/compute-sanitizer
chmod +x build/tools/* build/tests/gpu shims/*
export PATH=$PWD/shims:$PATH
check() { "$script" --build-dir "$PWD/build" --out "$PWD/out.d" "$@"; }
expect 0 check --skip-sanitizer
prints "ok      gpu-tests "
prints "All GPU checks passed."
grep -q "csr-bench .*--kernels .*gpu.auto" out || fail "the table is missing"
expect 1 check
prints "failed: racecheck SanitizerGpuSpmm.Small/auto"
prints "FAILED: sanitizer"
printf '#!/bin/sh\necho broken; exit 1\n' >build/tests/gpu
expect 1 check --skip-sanitizer
prints "FAILED: gpu-tests gpu-tests-big"
expect 2 check --architecture
