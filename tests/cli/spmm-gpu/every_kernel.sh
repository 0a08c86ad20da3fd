# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool.
needs_cuda
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
needs_gpu csr-spmm-gpu karate.csr --repeat 1
for kernel in $(csr-spmm-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])'); do
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
