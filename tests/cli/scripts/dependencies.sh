# shellcheck shell=bash disable=SC2016 # the stand-ins expand their own arguments
# install_dependencies.sh, unpack_dependencies.sh and test.sh with stand-ins for the package manager,
# CMake and CTest: what would be done, and that nothing is done where nothing is needed.
scripts=$(realpath "$CLI_FOLDER/../../run_scripts")
mkdir shims
shim() { # shim NAME: the body comes from stdin; every call is noted in calls
  { echo '#!/bin/sh'; echo "echo $1 \"\$@\" >>'$PWD/calls'"; cat; } >"shims/$1"
  chmod +x "shims/$1"
}
export PATH=$PWD/shims:$PATH
shim sudo <<<'exec "$@"'
shim apt-get <<<'if [ "$1 $2" = "install --simulate" ]; then
  echo "Inst libmetis-dev (5.1 Debian)"
elif [ "$1" = download ]; then
  touch libmetis-dev_5.1.deb
fi'
shim dpkg <<<'mkdir -p "$3/usr/lib/x86" && touch "$3/usr/lib/x86/libmetis.a"'
shim cmake </dev/null
shim ctest <<<'exit 8'

# Everything is there: nothing is installed.
shim dpkg-query <<<'printf installed'
: >calls
expect 0 "$scripts/install_dependencies.sh" --tests
prints "Everything needed is installed."
if grep -q '^apt-get' calls; then fail "it called apt-get for nothing"; fi

# One package is missing: it is named, and installed unless the user says no.
shim dpkg-query <<<'case "$*" in *libmetis-dev*) exit 1 ;; *) printf installed ;; esac'
expect 0 "$scripts/install_dependencies.sh" --no-install
prints "Not installed (--no-install): libmetis-dev"
if grep -q '^apt-get' calls; then fail "--no-install installed"; fi
expect 0 "$scripts/install_dependencies.sh"
prints "Will install with apt-get: libmetis-dev"
grep -q '^apt-get install .* libmetis-dev$' calls || fail "the package was not installed"

expect 0 "$scripts/unpack_dependencies.sh" unpacked
prints "Unpacked 1 packages into $PWD/unpacked"
prints "export CMAKE_PREFIX_PATH=$PWD/unpacked/usr"
[ -f unpacked/usr/lib/x86/libmetis.a ] || fail "the package is not unpacked"
expect 2 "$scripts/unpack_dependencies.sh"
# A package manager that knows none of the packages does not mean that all are there.
shim apt-get <<<'echo "E: Unable to locate package libmetis-dev" >&2; exit 100'
expect 4 "$scripts/unpack_dependencies.sh" again
grep -q "apt-get update" err || fail "it does not say what to do"

# The tests are configured, built and run, and their exit code is the script's.
: >calls
expect 8 "$scripts/test.sh" --no-install --preset ci -- -R nothing
grep -qx 'cmake --preset ci -DCSRKIT_TESTS=ON -DCSRKIT_STUDIES=ON' calls || fail "not configured"
grep -q '^cmake --build --preset ci ' calls || fail "not built"
grep -q '^ctest --preset ci .*-R nothing$' calls || fail "the tests were not run"
expect 2 "$scripts/test.sh" --preset
