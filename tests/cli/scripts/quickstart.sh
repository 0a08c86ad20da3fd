# shellcheck shell=bash
# The quick start, from the build on: the installed tools stand in for what CMake would build, and
# csr-bench leaves out the slow kernel.
script=$(realpath "$CLI_FOLDER/../../run_scripts/quickstart.sh")
bin=$(dirname "$(command -v csr-bench)")
mkdir -p shims build/tools
ln -s "$bin"/csr-* build/tools/
rm build/tools/csr-bench
cat >build/tools/csr-bench <<END
#!/usr/bin/env bash
exec '$bin/csr-bench' "\${@/#cpu.reference,/}"
END
printf '#!/bin/sh\necho built\n' >shims/cmake
chmod +x build/tools/csr-bench shims/cmake
export PATH=$PWD/shims:$PATH
expect 0 "$script" --no-install --build-dir "$PWD/build" --work-dir "$PWD/first-run"
prints "== 4/4"
grep -q '/arxiv-rcm\.csr .*cpu\.spmm\.auto .* ok ' out || { cat out >&2; fail "the table lacks the reordered graph"; }
prints "Records of this run: $PWD/first-run/records.jsonl"
equals "$(grep -c '"kernel":"cpu.spmm.auto"' first-run/records.jsonl)" 4
expect 2 "$script" --build-dir
