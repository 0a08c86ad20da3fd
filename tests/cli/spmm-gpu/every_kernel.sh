# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool.
if ! command -v csr-spmm-gpu >/dev/null; then
  if [ "${CSRKIT_REQUIRE_GPU:-0}" = 1 ]; then fail "CSRKIT_REQUIRE_GPU=1, but built without CUDA"; fi
  echo "built without CUDA"
  exit 6
fi
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
code=0
csr-spmm-gpu karate.csr --repeat 1 >out 2>err || code=$?
if [ "$code" -eq 6 ]; then
  if [ "${CSRKIT_REQUIRE_GPU:-0}" = 1 ]; then fail "CSRKIT_REQUIRE_GPU=1, but: $(cat err)"; fi
  cat err
  exit 6
fi
for kernel in $(csr-spmm-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)])'); do
  # A vendor's kernel may promise less than we do.
  expect 0 csr-spmm-gpu karate.csr --kernel "$kernel" -k 9 --repeat 2 --check=full --nondeterministic --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed)" True
done
# The examples of --help, as they stand there.
cp karate.csr graph.csr
csr-spmm-gpu --help | sed -n 's/^  \(csr-spmm-gpu .*\)/\1/p' >examples
[ -s examples ] || fail "no examples"
while read -r line; do eval "$line"; done <examples
