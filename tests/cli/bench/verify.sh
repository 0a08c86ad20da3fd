# shellcheck shell=bash
# A bundle measured again: found by digest, judged by intervals, wrong usage refused.
csr-generate rmat graph.csr --set scale=10 --quiet
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 0 csr-bench graph.csr tiny.csr -k 8 --value-kind f64 --repeat 5 --records bundle.jsonl
equals "$(wc -l <bundle.jsonl | tr -d ' ')" 2

# The recorded times are replaced, for what this machine does meanwhile must not decide the test.
times() { # times SECONDS BUNDLE
  python3 - "$1" "$2" <<'EOF'
import json, sys
seconds = float(sys.argv[1])
with open(sys.argv[2], "w") as out:
    for line in open("bundle.jsonl"):
        record = json.loads(line)
        record["samples_seconds"] = [seconds] * 20
        record["median_seconds"] = seconds
        out.write(json.dumps(record) + "\n")
EOF
}
verdicts() { python3 -c '
import json, sys
print(*sorted({json.loads(line)["verdict"]["word"] for line in open("out")}))'; }
times 1000 slower.jsonl
times 1e-10 faster.jsonl
expect 0 csr-bench --attempts 1 --verify slower.jsonl --tolerance 100 --json
equals "$(verdicts)" FAST
expect 1 csr-bench --attempts 1 --verify faster.jsonl --tolerance 100 --json
# Differences below a microsecond do not count; the rest is slow.
case $(verdicts) in *SLOW*) ;; *) fail "nothing was slow: $(verdicts)" ;; esac
expect 0 csr-bench --attempts 1 --verify bundle.jsonl --tolerance 1000000000 --records again.jsonl
prints "2 cases: 2 SAME"
equals "$(wc -l <again.jsonl | tr -d ' ')" 2

# The matrices are found by their digest: elsewhere when named, not at all when changed.
mkdir moved
mv graph.csr moved/
expect 1 csr-bench --attempts 1 --verify slower.jsonl --tolerance 100 --records not_run.jsonl
prints "NOT RUN"
says "name it on the command line"
# What was not run is a record, too: the file is one of records.
expect 0 csr-bench tiny.csr -k 2 --repeat 1 --records not_run.jsonl
equals "$(wc -l <not_run.jsonl | tr -d ' ')" 3
expect 0 csr-bench --attempts 1 --verify slower.jsonl --tolerance 100 moved/graph.csr
mkdir elsewhere
# tiny.csr is found, for its folder is recorded.
(cd elsewhere && expect 0 csr-bench --attempts 1 --verify ../slower.jsonl --tolerance 100 ../moved/graph.csr)

# Cases that differ in their values or in the product are told apart.
expect 0 csr-bench tiny.csr -k 2 --value-kind none,f32 --repeat 2 --records kinds.jsonl
expect 0 csr-bench tiny.csr -k 2 --value-kind f32 --transpose --repeat 2 --records kinds.jsonl
expect 0 csr-bench tiny.csr --kernels cpu.spgemm.auto --value-kind f32 --unsorted --semiring min-plus --nondeterministic \
  --memory-limit 1G --repeat 2 --records kinds.jsonl
expect 0 csr-bench --attempts 1 --verify kinds.jsonl --tolerance 1000000000
if ! grep -qE '^matrix +kernel +K +caches +values +how +recorded ms' out; then cat out >&2; fail "no columns values and how"; fi
for row in 'warm +none +- ' 'warm +f32 +- ' 'warm +f32 +transposed ' \
  'warm +f32 +min-plus, unsorted, nondeterministic, within 1073741824 bytes '; do
  grep -qE "$row" out || { cat out >&2; fail "no row '$row'"; }
done
expect 0 csr-bench tiny.csr -k 2 --value-kind none --repeat 2 --records kinds.jsonl --resume
says "tiny.csr: cpu.spmm.auto, K 2, warm, without values is in the records already"
# A word that is not known and a type that is wrong, both in one record.
for wrong in '["value_kind"] = 5' '["semiring"] = None' '["transpose"] = "no"' '["unsorted"] = 1' '["memory_limit_bytes"] = -1'; do
  python3 - "$wrong" <<'EOF'
import json, sys
record = json.loads(open("kinds.jsonl").readline())
record["case"]["caches"] = "hot"
exec('record["case"]' + sys.argv[1])
open("wrong.jsonl", "w").write(json.dumps(record) + "\n")
EOF
  expect 3 csr-bench --attempts 1 --verify wrong.jsonl
  says "wrong.jsonl:1: "
done

# What cannot be meant is refused.
expect 4 csr-bench tiny.csr --records - --repeat 1
says "cannot write '-': records go into a file"
no_file -
expect 2 csr-bench --attempts 1 --verify bundle.jsonl -k 3
says "leave out --dense-cols"
expect 2 csr-bench --attempts 1 --verify bundle.jsonl --memory-limit 1G
says "leave out --memory-limit"
expect 2 csr-bench --attempts 1 --verify bundle.jsonl --records bundle.jsonl
expect 2 csr-bench tiny.csr --tolerance 3
expect 2 csr-bench tiny.csr --max-repeat 3
expect 2 csr-bench
says "found none"
expect 3 csr-bench --verify tiny.mtx
says "tiny.mtx:1:"
expect 4 csr-bench --verify absent.jsonl
: >empty.jsonl
expect 3 csr-bench --verify empty.jsonl

# Two processes do not share a file of records.
expect 4 python3 - <<'EOF'
import fcntl, subprocess, sys
with open("again.jsonl", "r+") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    sys.exit(subprocess.run("csr-bench tiny.csr --records again.jsonl".split()).returncode)
EOF
says "another process"
# The same file by another name is the same file.
expect 2 csr-bench --verify bundle.jsonl --records ./bundle.jsonl
says "name the same file"
