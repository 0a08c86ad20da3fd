# shellcheck shell=bash
# The forecast is never below what a run takes, and not far above.
export OMP_WAIT_POLICY=passive
csr-generate rmat graph.csr --set scale=14 --quiet
for words in "-k 256" "-k 64 --transpose" "-k 128 --value-kind f64"; do
  read -ra options <<<"$words"
  expect 0 csr-forecast graph.csr "${options[@]}" --json
  python3 - "$(json forecasts.0.host_peak_bytes)" "${options[@]}" <<'EOF'
import os, subprocess, sys
command = ["csr-spmm-cpu", "graph.csr", "--repeat", "2", "--quiet", *sys.argv[2:]]
_, _, usage = os.wait4(subprocess.Popen(command).pid, 0)
forecast, real = int(sys.argv[1]), usage.ru_maxrss * 1024
assert real <= forecast, (command, real, forecast)
# What starts the process counts as its own until it is replaced: small runs look bigger than they are.
assert forecast <= 1.25 * real, (command, real, forecast)
EOF
done
expect 0 csr-forecast graph.csr -k 8,16
prints "#SBATCH --mem="
expect 0 csr-forecast graph.csr --operation spgemm --json
[ "$(json forecasts.0.output_bytes)" -gt 0 ] || fail "nothing is forecast for C"
expect 2 csr-forecast graph.csr --operation spgemm -k 8
expect 2 csr-forecast graph.csr graph.csr
expect 2 csr-forecast graph.csr --memory-limit 8G
expect 2 csr-forecast graph.csr --kernel no_such_kernel
expect 3 csr-forecast graph.csr --machine graph.csr
