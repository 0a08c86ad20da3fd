# shellcheck shell=bash
# Advice needs a machine and writes nothing; its sums can be checked by hand.
cat >m.json <<'END'
{"format": "csrkit machine profile", "version": 1, "host": "made up", "devices": [
  {"device": "cpu", "name": "made up", "kernel": "cpu.spmm.auto", "workers": 1, "rows_per_turn": 0,
   "private_cache_bytes": 65536, "shared_cache_bytes": 0, "memory_bytes": 1e9,
   "copy_bytes_per_second": 1e9, "fixed_seconds": 0, "gather": [
     {"dense_cols": 32, "seconds_per_output_row": 0, "seconds_per_streamed_row": 0,
      "table_bytes": [65536, 1048576],
      "seconds_per_read": [1e-9, 1e-7]}]}]}
END
csr-generate communities hidden.csr --set n=4000 --set mean=16 --set community=50 --set inside=0.9 \
  --set inside_coarse=0 --set coarse=0 --quiet
csr-generate communities planted.csr --set n=4000 --set mean=16 --set community=50 --set inside=0.9 \
  --set inside_coarse=0 --set coarse=0 --set order=planted --quiet
expect 0 csr-reorder hidden.csr --advise --machine m.json -k 32 --json
[ "$(json advice.0.recommended.0)" != "leave it" ] || fail "hidden communities were not found"
equals "$(json sampled_share)" 1.0
expect 0 csr-reorder planted.csr --advise --machine m.json -k 32
prints "K = 32: leave it"
# Five hundred times the machine: one product gains microseconds, which no ordering is made in.
sed 's/\[1e-9, 1e-7\]/[2e-12, 2e-10]/' m.json >quick.json
expect 0 csr-reorder hidden.csr --advise --machine quick.json -k 32 --multiplications 1
prints "K = 32: leave it"
expect 0 csr-reorder hidden.csr --advise --machine m.json -k 32,64 --sample 10000 --json
python3 - <<'END'
import json
report = json.load(open("out"))
assert 0.1 < report["sampled_share"] < 0.3, report["sampled_share"]
advice = report["advice"][0]
assert len(advice["seconds_now"]) == len(advice["recommended"]) == 2
for method in advice["methods"]:
    assert method["refused"] or len(method["seconds"]) == 2, method
END
# A recommendation is a method, and what it forecasts for the whole is what --report says of it.
expect 0 csr-reorder hidden.csr --advise --machine m.json -k 32 --json
method=$(json advice.0.recommended.0)
cp out advice.json
expect 0 csr-reorder hidden.csr moved.csr --method "$method" --report --machine m.json -k 32 --json
python3 - "$method" <<'END'
import json, sys
advice = json.load(open("advice.json"))["advice"][0]
row = json.load(open("out"))["locality"]["pays_back"][0]
said = next(m for m in advice["methods"] if m["method"] == sys.argv[1])["seconds"][0]
assert abs(said / row["seconds_after"] - 1) < 0.1, (said, row)
assert abs(advice["seconds_now"][0] / row["seconds_before"] - 1) < 1e-9
END
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --quiet
expect 0 csr-reorder wide.csr --advise --machine m.json
expect 2 csr-reorder hidden.csr --advise
says "csr-probe --output FILE.json"
expect 2 csr-reorder hidden.csr out.csr --advise --machine m.json
expect 2 csr-reorder hidden.csr --advise --machine m.json --method rcm
expect 2 csr-reorder hidden.csr out.csr --method rcm --multiplications 3
expect 2 csr-reorder hidden.csr --method rcm
no_file out.csr
