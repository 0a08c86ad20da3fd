# shellcheck shell=bash
# What one GPU cannot hold: the cut of csr-spmm-gpu, without a GPU.
csr-generate rmat graph.csr --set scale=13 --quiet
csr-generate erdos-renyi wide.csr --set rows=700 --set cols=3000 --set nnz=20000 --quiet

refused() { # refused CODE TEXT ARGUMENTS...
  local code=$1 text=$2
  shift 2
  expect "$code" csr-forecast "$@"
  says "$text"
}
# A profile of a GPU with 3 MB.
python3 - >small_gpu.json <<'PYTHON'
import json
device = {"device": "gpu", "name": "a GPU", "kernel": "gather", "workers": 1, "rows_per_turn": 0,
          "private_cache_bytes": 1e6, "shared_cache_bytes": 0, "memory_bytes": 3e6, "copy_bytes_per_second": 1e10,
          "fixed_seconds": 1e-6, "gather": [{"dense_cols": 32, "seconds_per_output_row": 1e-8,
          "seconds_per_streamed_row": 1e-8, "table_bytes": [1e5, 1e8], "seconds_per_read": [1e-8, 5e-8]}]}
print(json.dumps({"format": "csrkit cluster profile", "version": 1, "name": "small", "nodes": 1, "ranks_per_node": 2,
                  "cores_per_rank": 2, "rank_memory_bytes": 3e6, "device": device,
                  "link": {"bytes_per_second": 1e9, "seconds_per_exchange": 1e-6}}))
PYTHON
expect 0 csr-forecast graph.csr --ranks 2 -k 64 --profile small_gpu.json
if ! has_gpu_code; then
  prints "one GPU holds it only out of core; how it is cut the GPU library knows: this build has no GPU code"
  exit
fi
prints "one GPU, out of core: "
prints "panels of"
expect 0 csr-forecast graph.csr --ranks 2 -k 16,64 --profile small_gpu.json --json
equals "$(json out_of_core.0.dense_cols)" 64 # 16 columns fit
same_cut=$(json out_of_core.0.device_bytes)
expect 0 csr-forecast graph.csr --device gpu -k 64 --memory-limit 3000000 --threads 2 --json
equals "$(json forecasts.0.out_of_core.device_bytes)" "$same_cut"

# In a limit, and moving what the scheme says.
check() { # check LIMIT; the JSON of the forecast is in ./out
  python3 - "$1" <<'PYTHON'
import json, sys
row = json.load(open("out"))["forecasts"][0]
cut = row["out_of_core"]
assert row["plan_bytes"] == cut["device_bytes"] <= int(sys.argv[1]), row
assert row["seconds"] == cut["forecast_seconds"] > 0, row
assert cut["panels"] == -(-64 // cut["panel_cols"]) and cut["blocks"] >= 1 and cut["staging_bytes"] > 0, row
cols, rows, nnz = SIZES = {True: (3000, 700, 20000), False: (700, 3000, 20000)}[cut["bytes_out"] == 700 * 64 * 4]
assert cut["bytes_out"] == rows * 64 * 4, row
moved_with_a = cut["bytes_in"] - cols * 64 * 4
if cut["scheme"] == "columns":
    assert moved_with_a == 0, row
else:  # columns, values, and 4 bytes a row, at least
    assert moved_with_a >= cut["panels"] * (8 * nnz + 4 * rows), row
PYTHON
}
for direction in "" --transpose; do
  for how in auto columns rows; do
    expect 0 csr-forecast wide.csr --device gpu -k 64 --memory-limit 700K --out-of-core $how ${direction:+"$direction"} --json
    check $((700 * 1024))
    if [ $how != auto ]; then equals "$(json forecasts.0.out_of_core.scheme)" $how; fi
  done
done
expect 0 csr-forecast wide.csr --device gpu -k 64 --memory-limit 700K --panel-cols 8 --json
equals "$(json forecasts.0.out_of_core.panel_cols)" 8
expect 0 csr-forecast wide.csr --device gpu -k 64 --memory-limit 700K --panel-major --threads 2 --json
equals "$(json forecasts.0.out_of_core.staging_bytes)" $(((4 << 22) + 3700 * 64 * 4))
expect 0 csr-forecast wide.csr --device gpu -k 64 --memory-limit 8G --json
equals "$(json forecasts.0.out_of_core)" None

refused 5 "bytes of device memory, and there are 716800 bytes" wide.csr --device gpu -k 64 --memory-limit 700K --out-of-core never
refused 5 "blocks of rows and panels" wide.csr --device gpu -k 64 --memory-limit 2K
refused 2 "is for --device gpu" wide.csr --out-of-core rows
refused 2 "is for --device gpu" wide.csr --panel-major
refused 2 "device of known memory" wide.csr --device gpu --out-of-core rows
refused 2 "--out-of-core is never" wide.csr --device gpu --out-of-core never --panel-cols 8
refused 2 "--panel-cols is not for --ranks" wide.csr --ranks 2 --panel-cols 8
refused 2 "--memory-limit is not for --tool csr-bench" wide.csr --tool csr-bench --memory-limit 1G
refused 2 "--out-of-core is for --operation spmm" wide.csr --operation spgemm --out-of-core rows
refused 2 "--dense-cols is for --operation spmm or sddmm" wide.csr --operation spmv -k 8
refused 2 "(--transpose-b; in csr-bench and csr-forecast --transpose)" wide.csr --operation spgemm

# The product itself, where there is a GPU: cut as forecast.
needs_gpu csr-spmm-gpu wide.csr -k 64 --quiet
for how in columns rows; do
  expect 0 csr-forecast wide.csr --device gpu -k 64 --memory-limit 700K --out-of-core $how --json
  forecast=$(json forecasts.0.out_of_core)
  expect 0 csr-spmm-gpu wide.csr -k 64 --memory-limit 700K --out-of-core $how --json
  for key in scheme panels panel_cols blocks bytes_in bytes_out device_bytes staging_bytes forecast_seconds; do
    python3 -c 'import ast, sys
found = ast.literal_eval(sys.argv[1])[sys.argv[2]]
assert str(found) == sys.argv[3], (sys.argv[2:], found)' "$forecast" $key "$(json out_of_core.$key)"
  done
done
