# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool.
needs_cuda
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
needs_gpu csr-spgemm-gpu karate.csr --kernel v1_cached_members --repeat 1
for kernel in $(csr-spgemm-gpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])'); do
  # The classic rungs and the vendor promise less than our production kernels do.
  expect 0 csr-spgemm-gpu karate.csr --kernel "$kernel" --repeat 2 --check=full --nondeterministic \
    --output "$kernel.csr" --json
  equals "$(json kernel)" "$kernel"
  equals "$(json check.passed)" True
  expect 0 csr-info "$kernel.csr"
done
# A block kernel has no determinism to offer, and says so.
expect 2 csr-spgemm-gpu karate.csr --kernel v2_block_per_row
says determinism
# Products beyond the memory limit are cut into blocks of rows, and come out the same.
csr-generate rmat graph.csr --set scale=10 --value-kind f64 --quiet
expect 0 csr-spgemm-gpu graph.csr --kernel v1_cached_members --output whole.csr --repeat 1 --warmup 0 --json
limit=$(($(json forecast.whole_bytes) / 2))
expect 0 csr-spgemm-gpu graph.csr --kernel v1_cached_members --output blocks.csr --check --repeat 1 \
  --warmup 0 --memory-limit "$limit" --json
[ "$(json c.row_blocks)" -gt 1 ] || fail "one block within half of the memory"
same_matrix whole.csr blocks.csr
expect 5 csr-spgemm-gpu graph.csr --kernel v1_cached_members --memory-limit 4096
# The examples of --help, as they stand there.
csr-spgemm-gpu --help | sed -n 's/^  \(csr-spgemm-gpu .*\)/\1/p' >examples
[ -s examples ] || fail "no examples"
while read -r line; do eval "$line"; done <examples
