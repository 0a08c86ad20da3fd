# shellcheck shell=bash
# SIGTERM keeps every finished case and exits with 143.
csr-generate rmat graph.csr --set scale=12 --quiet
code=0
python3 - <<'EOF' || code=$?
import json, os, signal, subprocess, sys, time
process = subprocess.Popen(
    "csr-bench graph.csr --kernels cpu.auto,cpu.naive -k 8,16,32,64,128,256 --repeat 300 "
    "--records out.jsonl --quiet".split())
deadline = time.time() + 60
while time.time() < deadline and (not os.path.exists("out.jsonl") or not os.path.getsize("out.jsonl")):
    time.sleep(0.01)
process.send_signal(signal.SIGTERM)
sys.exit(process.wait())
EOF
equals "$code" 143
python3 -c '
import json
records = [json.loads(line) for line in open("out.jsonl")]
assert 1 <= len(records) < 12, len(records)'
