# shellcheck shell=bash
# The forecast is never below what a run takes, and not far above.
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
# Of a small matrix nearly all is the process. auto of SpMV touches the pages of many kernels. Python is larger than that
# and would count; GNU time is small.
csr-import "$DATASETS/cora.mtx.gz" small.csr --quiet
for operation in spmv spmm; do
  [ -x /usr/bin/time ] || continue
  expect 0 csr-forecast small.csr --operation $operation --json
  forecast=$(json forecasts.0.host_peak_bytes)
  /usr/bin/time -f %M -o peak csr-$operation-cpu small.csr --repeat 2 --json >out
  [ $(($(cat peak) * 1024)) -le "$forecast" ] || fail "$operation takes $(cat peak) KiB, forecast were $forecast bytes"
done
expect 0 csr-forecast graph.csr -k 8,16
prints "#SBATCH --mem="
prints "#SBATCH --time="
# A sparse product: the size of C is counted, or bounded.
expect 0 csr-forecast graph.csr --operation spgemm --json
counted=$(json forecasts.0.output_bytes)
python3 - "$(json forecasts.0.host_peak_bytes)" "$counted" <<'EOF2'
import json, os, subprocess, sys
process = subprocess.Popen(["csr-spgemm-cpu", "graph.csr", "--repeat", "2", "--json"], stdout=subprocess.PIPE)
report = json.loads(process.stdout.read())
_, _, usage = os.wait4(process.pid, 0)
forecast, real = int(sys.argv[1]), usage.ru_maxrss * 1024
assert real <= forecast <= 1.25 * real, (real, forecast)
assert report["c"]["bytes"] == int(sys.argv[2]), (report["c"]["bytes"], sys.argv[2])
EOF2
expect 0 csr-forecast graph.csr --operation spgemm --bound --json
[ "$(json forecasts.0.output_bytes)" -gt "$counted" ] || fail "the bound is below what was counted"
equals "$(json forecasts.0.output_is_bound)" True
# The tools that a batch runs.
csr-export graph.csr graph.mtx --quiet
csr-bench graph.csr -k 8 --repeat 5 --records records.jsonl --quiet
peak_is_forecast() { # peak_is_forecast MOST OPTIONS OF csr-forecast... -- COMMAND...
  local most=$1 words=()
  shift
  while [[ $1 != -- ]]; do words+=("$1"); shift; done
  shift
  expect 0 csr-forecast graph.csr "${words[@]}" --json
  python3 - "$(json forecasts.-1.host_peak_bytes)" "$most" "$@" <<'EOF3'
import os, subprocess, sys
_, _, usage = os.wait4(subprocess.Popen(sys.argv[3:]).pid, 0)
forecast, real = int(sys.argv[1]), usage.ru_maxrss * 1024
assert real <= forecast <= float(sys.argv[2]) * real, (sys.argv[3:], real, forecast)
EOF3
}
peak_is_forecast 1.25 --tool csr-bench --kernels cpu.auto,cpu.row_loop -k 32,256 -- \
  csr-bench graph.csr --kernels cpu.auto,cpu.row_loop -k 32,256 --repeat 2 --quiet
peak_is_forecast 1.25 --tool csr-bench --kernels cpu.spgemm.auto -- \
  csr-bench graph.csr --kernels cpu.spgemm.auto --repeat 2 --quiet
peak_is_forecast 2 --tool csr-reorder --method metis-partition -- csr-reorder graph.csr moved.csr --method metis-partition --quiet
# Orders of A wait until they go into a sparse C.
cp graph.csr kept.csr
csr-import "$DATASETS/usroads.mtx.gz" roads.csr --quiet
csr-reorder roads.csr graph.csr --method rcm --force --quiet
peak_is_forecast 1.25 --operation spgemm -- csr-spgemm-cpu graph.csr --output c.csr --repeat 2 --quiet
mv kept.csr graph.csr
# Nothing merges and few rows are alike: the most that these methods take.
csr-generate erdos-renyi loose.csr --set rows=150000 --set nnz=1000000 --quiet
csr-generate rmat wide.csr --set scale=16 --value-kind f64 --quiet
orders_are_forecast() { # orders_are_forecast FILE MOST METHOD...
  local matrix=$1 most=$2 method
  shift 2
  for method in "$@"; do
    cp "$matrix" graph.csr
    rm -f moved.csr
    peak_is_forecast "$most" --tool csr-reorder --method "$method" -- csr-reorder graph.csr moved.csr --method "$method" --quiet
  done
}
cp graph.csr kept.csr
orders_are_forecast loose.csr 1.5 community row-similarity rcm
orders_are_forecast wide.csr 1.25 degree rcm gorder # the copy in the new order is made when the graph is gone
mv kept.csr graph.csr
peak_is_forecast 2 --tool csr-import -- csr-import graph.mtx again.csr --quiet
if python_with numpy >/dev/null; then
  peak_is_forecast 2 --tool csr-report -- csr-report records.jsonl -o page.html --quiet
fi
# Many threads, many columns, rows and columns without entries: what threads keep for each of them counts.
peak_of_order() { # peak_of_order METHOD THREADS MOST: of graph.csr
  OMP_NUM_THREADS=$2 peak_is_forecast "$3" --tool csr-reorder --method "$1" --threads "$2" -- \
    csr-reorder graph.csr order.csr --method "$1" --force --quiet
}
mv graph.csr square.csr
csr-generate erdos-renyi graph.csr --set rows=20000 --set cols=900000 --set nnz=2000000 --value-kind none --quiet
peak_of_order degree 16 2
peak_of_order gorder 2 2
csr-generate erdos-renyi graph.csr --set rows=400000 --set cols=20000 --set nnz=1000000 --value-kind none --force --quiet
peak_of_order row-similarity 8 3
csr-generate erdos-renyi graph.csr --set rows=600000 --set nnz=200000 --value-kind none --force --quiet
peak_of_order community 2 2
mv square.csr graph.csr
# Counting the entries of a product keeps something for each column and thread; few products need few threads.
csr-generate erdos-renyi empty.csr --set rows=2000000 --set nnz=100000 --value-kind none --quiet
python3 - <<'EOF4'
import os, subprocess
command = ["csr-forecast", "empty.csr", "--operation", "spgemm", "--quiet"]
process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "32"}, stdout=subprocess.DEVNULL)
real = os.wait4(process.pid, 0)[2].ru_maxrss
assert real < 150 << 10, f"{real} KiB to forecast a product of 100,000 entries"
EOF4
# For a GPU, without one.
if ! has_gpu_code; then
  expect 6 csr-forecast graph.csr --device gpu
  says "this build has no GPU code"
else
  expect 0 csr-forecast graph.csr --device gpu -k 8,16
  prints "#SBATCH --gres=gpu:1"
  prints "device memory"
  expect 0 csr-forecast graph.csr --device gpu -k 16 --json
  [ "$(json forecasts.0.plan_bytes)" -gt "$(json forecasts.0.output_bytes)" ] || fail "A and B take nothing"
  expect 0 csr-forecast graph.csr --device gpu --operation spgemm --json
  equals "$(json forecasts.0.output_bytes)" "$counted"
  expect 2 csr-forecast graph.csr --device gpu --kernel vendor_cusparse
fi
# csr-bench takes as long as it is given; more than Slurm's minutes hold is no number below 0.
expect 0 csr-forecast graph.csr --tool csr-bench --max-seconds 600
prints "#SBATCH --time=42"
expect 0 csr-forecast graph.csr --tool csr-bench --max-seconds 1e300
prints "#SBATCH --time=2147483647"
for seconds in 0 -5; do
  expect 2 csr-forecast graph.csr --tool csr-bench --max-seconds $seconds
  says "--max-seconds is '$seconds'; it must be a number above 0"
done
expect 2 csr-forecast graph.csr --device tpu
expect 2 csr-forecast graph.csr --bound
expect 2 csr-forecast graph.csr --operation spgemm -k 8
expect 2 csr-forecast graph.csr graph.csr
expect 5 csr-forecast graph.csr --memory-limit 1 # as csr-spmm-cpu would
expect 2 csr-forecast graph.csr --kernel no_such_kernel
expect 3 csr-forecast graph.csr --machine graph.csr
# Sizes that no 64 bits of bytes could hold are refused; those below are added up without wrapping round.
expect 2 csr-forecast --tool csr-import --sizes 2147483647,2147483647,4611686018427387904
says "--sizes"
expect 0 csr-forecast --tool csr-import --sizes 3,4,12
for sizes in 3,4,13 0,2147483647,1; do
  expect 2 csr-forecast --tool csr-import --sizes $sizes
  says "--sizes is '$sizes'; it must have at most as many entries as rows x columns"
done
for tool in csr-import "csr-reorder --method metis-partition" csr-report; do
  read -ra words <<<"--tool $tool --sizes 2147483647,2147483647,4503599627370496"
  expect 0 csr-forecast "${words[@]}" --json
  [ "$(json forecasts.0.host_peak_bytes)" -gt $((4503599627370496 * 4)) ] || fail "a forecast of $tool wrapped round"
  expect 0 csr-forecast "${words[@]}"
  mebibytes=$(sed -n 's/^#SBATCH --mem=\(.*\)M/\1/p' out)
  [ "$mebibytes" -gt $((4503599627370496 * 4 / 1048576)) ] || fail "a line for Slurm wrapped round"
done
# Dense operands whose bytes 64 bits could not hold are refused, not promised 26 MiB. The widths are such that the bytes
# of B in f64 would wrap round to 32 GiB below 2^64, 8 GiB below it, and 8 GiB.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2147483647 1\n1 1 1\n' >vast.mtx
csr-import vast.mtx vast.csr --quiet
for width in 2147483647 1073741824 1073741825; do
  for command in "csr-forecast vast.csr" "csr-forecast vast.csr --ranks 2" "csr-spmm-cpu vast.csr" \
    "csr-spmm-cpu vast.csr --transpose" "csr-sddmm-cpu vast.csr" "csr-spmm-dist vast.csr" "csr-spmm-dist vast.csr --grid 1x1" \
    "csr-spmm-dist vast.csr --ranks 2 --grid 2x1"; do
    read -ra words <<<"$command"
    expect 5 timeout 20 "${words[@]}" -k $width
    says ": error: a dense operand of 2147483647 x $width elements is more than any machine holds; use fewer dense columns"
  done
done
expect 0 csr-forecast vast.csr -k 1024 # 16 TiB
prints " TiB"
