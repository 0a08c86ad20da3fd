# shellcheck shell=bash
# Under a limit C goes to the file in blocks of rows, with the same bytes; what cannot be is refused.
csr-generate rmat graph.csr --set scale=11 --quiet
expect 0 csr-spgemm-cpu graph.csr --kernel adaptive_rows --threads 2 --repeat 1 --check --output whole.csr --json
equals "$(json c.row_blocks)" 1
whole=$(json peak_bytes)
c_bytes=$(json c.bytes)
limit=$((whole - c_bytes * 3 / 4))
expect 0 csr-spgemm-cpu graph.csr --threads 2 --repeat 1 --warmup 0 --check --output blocks.csr \
  --memory-limit $limit --json
[ "$(json c.row_blocks)" -gt 1 ] || fail "one block only"
[ "$(json peak_bytes)" -le $limit ] || fail "the limit was not kept"
[ "$(json forecast.peak_bytes)" -le $limit ] || fail "the forecast is above the limit"
same_matrix whole.csr blocks.csr
# Without a file and a check the blocks are made and dropped; with a check there must be a file.
expect 0 csr-spgemm-cpu graph.csr --threads 2 --repeat 1 --memory-limit $limit
expect 5 csr-spgemm-cpu graph.csr --threads 2 --repeat 1 --check --memory-limit $limit
says "--output"
expect 5 csr-spgemm-cpu graph.csr --memory-limit 1000
says "--memory-limit"
