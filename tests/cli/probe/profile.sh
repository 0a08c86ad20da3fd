# shellcheck shell=bash
# A machine is measured once; the file then serves every forecast.
expect 0 csr-probe --output m.json --device cpu --max-table 1M --seconds 1 --max-spread 100000 -k 16,64 --threads 1 --json
equals "$(json profile.devices.0.device)" cpu
equals "$(json profile.devices.0.workers)" 1
equals "$(json profile.devices.0.kernel)" cpu.spmm.auto
python3 - <<'END'
import json
profile = json.load(open("m.json"))
assert profile["format"] == "csrkit machine profile" and profile["version"] == 1
assert profile["measured_on"]["host"] == profile["host"]
device = profile["devices"][0]
assert [curve["dense_cols"] for curve in device["gather"]] == [16, 64]
for curve in device["gather"]:
    assert curve["table_bytes"] == sorted(curve["table_bytes"]) and len(curve["table_bytes"]) >= 6
    assert all(seconds > 0 for seconds in curve["seconds_per_read"])
    assert curve["table_bytes"][-1] > 900e3, curve
    assert curve["output_row_spread"] >= max(curve["spread"][:1]) >= 0 and curve["streamed_row_spread"] >= 0
assert device["copy_spread"] >= 0 and device["fixed_spread"] >= 0
END
csr-generate rmat graph.csr --set scale=8 --quiet
expect 0 csr-info graph.csr --locality --machine m.json -k 32 --json
python3 - <<'END'
import json
locality = json.load(open("out"))["locality"]
assert [(c["dense_cols"], c["cache_bytes"]) for c in locality["caches"]] == [(32, 2**20), (32, 60 * 2**20)]
assert len(locality["forecasts"]) == 1 and locality["forecasts"][0]["seconds"] > 0
END
expect 0 csr-reorder graph.csr new.csr --method degree --report --measure --machine m.json -k 32 --json
python3 - <<'END'
import json
locality = json.load(open("out"))["locality"]
assert {"before", "after"} <= set(locality)
kinds = [(row["device"], row["kind"], row["dense_cols"]) for row in locality["pays_back"]]
assert kinds == [("cpu", "forecast", 32), ("cpu", "measured", 32)], kinds
for row in locality["pays_back"]:
    gains = row["seconds_after"] < row["seconds_before"]
    assert (row["break_even"] is not None) == gains and (not gains or row["break_even"] >= 1)
END
expect 2 csr-probe --output no.json --max-table 3K
expect 2 csr-probe --output no.json --device tpu
expect 2 csr-probe --output no.json --max-spread 0
no_file no.json
expect 4 csr-probe --output no/folder/m.json --device cpu --max-table 1M --seconds 1 --max-spread 100000 -k 1
echo '{"rows": 3}' >other.json
expect 3 csr-info graph.csr --locality --machine other.json
says "other.json: expected a machine profile"
python3 - <<'END'
import json
profile = json.load(open("m.json"))
assert all(len(curve["spread"]) == len(curve["table_bytes"]) for curve in profile["devices"][0]["gather"])
profile["devices"][0]["copy_bytes_per_second"] = 1.2e18
json.dump(profile, open("impossible.json", "w"))
END
expect 3 csr-info graph.csr --locality --machine impossible.json
says "which no machine has"
expect 4 csr-info graph.csr --locality --machine nowhere.json
expect 2 csr-info graph.csr --machine m.json
expect 2 csr-info graph.csr --locality --verify
expect 2 csr-reorder graph.csr x.csr --method degree --machine m.json
says "--machine is for --report"
expect 2 csr-reorder graph.csr x.csr --method degree --measure
no_file x.csr
expect 2 csr-probe --output machine.csr
says "but a .json file"
