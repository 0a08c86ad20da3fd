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
# Without a file the blocks are checked and dropped.
expect 0 csr-spgemm-cpu graph.csr --threads 2 --repeat 1 --memory-limit $limit
expect 0 csr-spgemm-cpu graph.csr --threads 2 --repeat 1 --check=full --memory-limit $limit --json
equals "$(json check.passed)" True
equals "$(json check.rows_checked)" 2048
expect 5 csr-spgemm-cpu graph.csr --memory-limit 1000
says "--memory-limit"
# What the process holds is the limit and what the help says comes on top, however large C is.
csr-generate rmat denser.csr --set scale=13 --set edge_factor=24 --quiet
cat >measured.py <<'END'
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss // 1024)
END
read -r code whole_mib < <(python3 measured.py csr-spgemm-cpu denser.csr --threads 2 --repeat 1 --warmup 0 --force --output whole.csr)
equals "$code" 0
read -r code mib < <(python3 measured.py csr-spgemm-cpu denser.csr --threads 2 --repeat 1 --warmup 0 --check \
  --force --output blocks.csr --memory-limit 10M)
equals "$code" 0
[ "$whole_mib" -gt 80 ] || fail "C is too small to show anything: $whole_mib MiB"
[ "$mib" -le 42 ] || fail "$mib MiB under a limit of 10"
