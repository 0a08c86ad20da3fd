# shellcheck shell=bash
# What the cases share; sourced by run_case.

# The names of all tools; every build has them.
all_tools() {
  local source
  for source in "$CLI_FOLDER"/../../tools/csr-*; do basename "$source" .cpp; done
}

# python_with MODULE...: the first Python of this machine that has all of them; fails if none has. Cases that draw name
# matplotlib.font_manager: it lists the fonts once for each user, and says so on stderr if that takes long.
python_with() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c "import $(tr ' ' ',' <<<"$*")" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Whether csr-report can draw pictures on this machine.
has_matplotlib() { python_with matplotlib >/dev/null; }

# Unpacks the Python package into ./site. Some versions of PyTorch bring an OpenMP library that is older than
# ours; a complete wheel has its own.
unpack_package() {
  local whole=--local
  if command -v auditwheel >/dev/null && command -v patchelf >/dev/null; then whole=; fi
  "$CLI_FOLDER/../../run_scripts/release/make_wheel.py" "$(dirname "$(command -v csr-bench)")/.." wheels $whole >/dev/null
  python3 -m zipfile -e wheels/*.whl site
  # pip keeps this, zipfile does not.
  if [ -d site/csrkit/libexec ]; then chmod +x site/csrkit/libexec/csrkit/*; fi
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

has_gpu_code() { csr-bench --version | grep -q 'CUDA: [0-9]'; }

# The case ends as skipped, or as failed with CSRKIT_REQUIRE_GPU=1, where there is no GPU code...
needs_cuda() {
  if has_gpu_code; then return; fi
  if [ "${CSRKIT_REQUIRE_GPU:-0}" = 1 ]; then fail "CSRKIT_REQUIRE_GPU=1, but built without CUDA"; fi
  echo "built without CUDA"
  exit 6
}

# ...and where a command finds no usable GPU.
needs_gpu() { # needs_gpu COMMAND...
  local code=0
  "$@" >out 2>err || code=$?
  if [ "$code" -ne 6 ]; then return; fi
  if [ "${CSRKIT_REQUIRE_GPU:-0}" = 1 ]; then fail "CSRKIT_REQUIRE_GPU=1, but: $(cat err)"; fi
  cat err
  exit 6
}

# expect CODE COMMAND...: runs it, keeps its output in ./out and ./err, and compares the exit code.
expect() {
  local expected=$1 code=0
  shift
  "$@" >out 2>err || code=$?
  if [ "$code" -ne "$expected" ]; then
    cat out err >&2
    fail "exit code $code, expected $expected: $*"
  fi
}

# show COMMAND...: the command, what it wrote with everything masked that differs from run to run, and
# its exit code if it is not 0. For the cases in golden/.
show() {
  local code=0
  "$@" >out 2>err || code=$?
  echo "\$ $*"
  "$CLI_FOLDER/mask.py" out err
  if [ "$code" -ne 0 ]; then echo "exit code $code"; fi
  echo
}

# says TEXT: the last `expect` said so on stderr, in a sentence that begins with the tool's name.
says() {
  grep -qF -- "$1" err || { cat err >&2; fail "stderr does not say '$1'"; }
  grep -qE '^csr-[a-z-]+: (error|warning|info|debug): ' err || { cat err >&2; fail "stderr names no tool"; }
}

prints() {
  grep -qF -- "$1" out || { cat out >&2; fail "stdout does not say '$1'"; }
}

silent() { # silent out|err
  if [ -s "$1" ]; then
    cat "$1" >&2
    fail "$1 is not empty"
  fi
}

# Nothing but what is named may be in the folder, finished or temporary.
no_file() {
  local pattern
  for pattern in "$@"; do
    if compgen -G "$pattern*" >/dev/null; then fail "left behind: $(compgen -G "$pattern*")"; fi
  done
}

# json KEY: a value of the JSON object in ./out; fails if stdout is anything but one JSON object.
json() {
  python3 -c '
import json, sys
value = json.load(open("out"))
for key in sys.argv[1].split("."):
    value = value[int(key)] if isinstance(value, list) else value[key]
print(value)' "$1"
}

equals() { # equals FOUND EXPECTED
  if [ "$1" != "$2" ]; then fail "found '$1', expected '$2'"; fi
}

# Two files hold the same matrix, whatever else travels with it.
same_matrix() {
  csr-export "$1" same_a.mtx --force --quiet
  csr-export "$2" same_b.mtx --force --quiet
  cmp same_a.mtx same_b.mtx || fail "$1 and $2 hold different matrices"
}

tiny_mtx() {
  cat <<'EOF'
%%MatrixMarket matrix coordinate real general
% four rows, one of them empty
4 4 6
1 1 1.5
1 3 -2
2 2 3
4 1 4
4 3 0.25
4 4 -1
EOF
}

# The case ends as skipped where the tools have no MPI, or nothing starts its ranks.
needs_mpi() {
  ls "$(dirname "$(command -v csr-spmm-dist)")"/../lib*/libcsrkit_mpi.so.* >/dev/null 2>&1 || { echo "built without MPI"; exit 6; }
  command -v mpirun >/dev/null || { echo "mpirun is not installed"; exit 6; }
}

# mpi RANKS [OPTION OF MPIRUN...] COMMAND...: a few ranks on however few processors, no longer than a test may take.
# Each job has a folder for temporary files to itself: two instances of Open MPI's launcher that start together, here
# or in tests side by side, both make the same folder under /tmp, and the later one gives up.
mpi() {
  TMPDIR=$(mktemp -d) CASE_FOLDER=$PWD OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
    timeout -k 5 120 mpirun --oversubscribe --bind-to none -x CASE_FOLDER -n "$@"
}
