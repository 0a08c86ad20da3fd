# shellcheck shell=bash
# gpu_sanitizer.py with stand-ins for the GPU tests, the tools and the sanitizer: what it runs, what it
# leaves for the next call, and that one report is the script's failure.
script=$CLI_FOLDER/../../run_scripts/measure/gpu_sanitizer.py
mkdir -p shims build/tests/soak build/tools
cat >build/tests/gpu <<'END'
#!/bin/sh
case $* in
  *--gtest_list_tests*) printf 'SanitizerGpuSpmm.\n  Small/auto  # GetParam() = "auto"\n  Small/v0\n' ;;
  *) cat said 2>/dev/null ;;
esac
END
cat >build/tools/csr-info <<'END'
#!/bin/sh
echo "commit: 0123456789ab"
END
for operation in spmm spmv spgemm sddmm solve; do
  printf '%s\n' '#!/bin/sh' "echo '{\"rows\": []}'" >build/tools/csr-$operation-gpu
done
cat >build/tools/csr-spmm-gpu <<'END'
#!/bin/sh
echo '{"schema": 1, "rows": [{"kernel": "gpu.spmm.auto", "role": "production"}, {"kernel": "gpu.spmm.v0", "role": "ladder"}]}'
END
# shellcheck disable=SC2016 # the stand-in's own arguments
printf '#!/bin/sh\n[ "$2 $6" != "racecheck $REPORTED" ]\n' >shims/compute-sanitizer
chmod +x build/tests/gpu build/tools/* shims/*
export PATH=$PWD/shims:$PATH REPORTED=nothing
sanitize() { "$script" --build-dir build --record records.jsonl --jobs 2 "$@"; }
expect 0 sanitize --list
equals "$(cat out)" "SanitizerGpuSpmm.Small/auto
SanitizerGpuSpmm.Small/v0"
# Without a GPU it says so, and runs nothing.
echo "[  SKIPPED ] 1 test" >said
expect 6 sanitize
prints "skipped: there is no usable GPU"
no_file records.jsonl
rm said
# What the time does not allow is for the next call, what passed is not run again.
expect 0 sanitize --seconds 0
prints "8 parts are left"
expect 0 sanitize
equals "$(wc -l <records.jsonl)" 8
grep -q '"commit": "0123456789ab", "tool": "racecheck", "part": "SanitizerGpuSpmm.Small/auto", "verdict": "passed"' records.jsonl
expect 0 sanitize
silent out
equals "$(wc -l <records.jsonl)" 8
sed -i 's/0123456789ab/other/' build/tools/csr-info
expect 0 sanitize --accept older,0123456789ab
silent out
# A report of one tool about one test fails the call; that part runs again the next time.
rm records.jsonl
REPORTED=--gtest_filter=SanitizerGpuSpmm.Small/v0
expect 1 sanitize
grep -q "failed: racecheck SanitizerGpuSpmm.Small/v0" err || fail "stderr does not say what failed"
REPORTED=nothing
expect 0 sanitize
equals "$(wc -l <out)" 1
expect 2 sanitize --tools memcheck,other
# A production kernel without a test is a failure, too.
sed -i 's/gpu.spmm.v0", "role": "ladder"/gpu.spmm.other", "role": "production"/' build/tools/csr-spmm-gpu
expect 1 sanitize
grep -q "no test for sanitizers is named after gpu.spmm.other" err || fail "stderr does not name the kernel"
expect 2 "$script" --build-dir nowhere
