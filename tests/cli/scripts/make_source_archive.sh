# shellcheck shell=bash
# make_source_archive.sh: what it packs is configured and built where there is no git.
root=$CLI_FOLDER/../..
script=$root/run_scripts/release/make_source_archive.sh
git -C "$root" rev-parse HEAD >/dev/null 2>&1 || { echo "no git checkout"; exit 6; }
commit=$(git -C "$root" rev-parse HEAD)
expect 2 "$script"
expect 2 "$script" made no-such-commit
expect 0 "$script" made
expect 2 "$script" made
grep -q "exists already; --force replaces it" err || fail "the archive was to be replaced"
cp made/csrkit-*.tar.gz first
expect 0 "$script" --force made
cmp first made/csrkit-*.tar.gz || fail "not the same bytes every time"
tar -xzf first
cd csrkit-*/ || fail "no folder"
equals "$(cat cmake/commit.txt)" "$commit"
[ ! -e .git ] || fail "it is a checkout"
expect 0 cmake -S . -B built -DCSRKIT_CUDA=OFF -DCSRKIT_STUDIES=OFF -DCSRKIT_TESTS=OFF -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_OPTIMIZE_DEPENDENCIES=ON
expect 0 cmake --build built --target csrkit_transform csrkit_pages csrkit_commit
# No set of instructions but the portable one by default; what needs more is chosen when it runs.
if grep -E -- '-march=native' built/compile_commands.json | grep -v vendor_eigen; then fail "-march=native by default"; fi
grep -q "${commit:0:12}" built/generated/tools/commit.h || fail "the build does not know its commit"
