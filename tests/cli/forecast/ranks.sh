# shellcheck shell=bash
# --ranks: bytes are those that a count by the definition finds, of blocks and of parts in the file; what is refused.
csr-generate communities square.csr --set n=2500 --set mean=9 --set community=100 --quiet
csr-generate erdos-renyi wide.csr --set rows=300 --set cols=700 --set nnz=5000 --value-kind f64 --quiet
csr-generate rmat hub.csr --set scale=9 --quiet

# Rows of B that each part needs, from the entries alone. Parts of the file: from its own rank_heads.
check() { # check FILE.csr K BYTES_OF_A_VALUE; the JSON of the forecast is in ./out
  csr-export "$1" entries.mtx --force --quiet
  csr-info "$1" --header-only --json >header.json
  python3 - "$1" "$2" "$3" <<'PYTHON'
import bisect, json, struct, sys
path, k, element = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines = [line.split() for line in open("entries.mtx") if not line.startswith("%")]
rows, cols, nnz = map(int, lines[0])
symmetric = "symmetric" in open("entries.mtx").readline()
entries = {(int(line[0]) - 1, int(line[1]) - 1) for line in lines[1:]}
if symmetric: entries |= {(j, i) for i, j in entries}
assert len(entries) == nnz or symmetric
nnz = len(entries)
per_row, per_col = [0] * rows, [0] * cols
for i, j in entries:
    per_row[i] += 1
    per_col[j] += 1

def balanced(weights, parts):
    sums = [0]
    for weight in weights: sums.append(sums[-1] + weight)
    count = len(weights)
    borders = [0]
    for part in range(1, parts):
        target = sums[-1] * part // parts
        at = bisect.bisect_left(sums, target, 0, count)
        if at > 0 and target - sums[at - 1] < sums[at] - target: at -= 1
        borders.append(at)
    return borders + [count]

def in_file():
    sections = {section["name"]: section for section in json.load(open("header.json"))["sections"]}
    if "rank_heads" not in sections: return {}
    data = open(path, "rb").read()[sections["rank_heads"]["offset_bytes"]:][:sections["rank_heads"]["size_bytes"]]
    words = struct.unpack(f"<{len(data) // 8}q", data)
    levels, at = {}, 1 + words[0]
    for parts in words[1:1 + words[0]]:
        heads = [words[at + 10 * p:at + 10 * p + 10] for p in range(parts)]
        levels[parts] = ([0] + [head[1] for head in heads], [0] + [head[3] for head in heads])
        at += 10 * parts
    return levels

levels = in_file()
seen = set()
for grid in json.load(open("out"))["grids"]:
    if grid["dense_cols"] != k: continue
    parts, groups = grid["row_parts"], grid["column_groups"]
    assert parts * groups == grid["ranks"] and groups <= k, grid
    assert grid["parts_from"] == ("file" if parts in levels else "blocks"), grid
    row_at, col_at = levels.get(parts) or (balanced(per_row, parts), None)
    if col_at is None: col_at = row_at if rows == cols else balanced(per_col, parts)
    halos = [set() for _ in range(parts)]
    for i, j in entries:
        part = bisect.bisect_right(row_at, i) - 1
        if not col_at[part] <= j < col_at[part + 1]: halos[part].add(j)
    sends = [0] * parts
    for halo in halos:
        for j in halo: sends[bisect.bisect_right(col_at, j) - 1] += 1
    width = -(-k // groups)
    wanted = (sum(map(len, halos)) * k * element, max(map(len, halos)) * width * element, max(sends) * width * element)
    found = (grid["moved_bytes"], grid["worst_received_bytes"], grid["worst_sent_bytes"])
    assert found == wanted, (grid, wanted)
    assert grid["seconds"] > 0 and grid["rank_bytes"] > 0 and grid["efficiency"] > 0, grid
    seen.add(parts)
best = [row for row in json.load(open("out"))["best"] if row["dense_cols"] == k]
for row in best:
    same = [grid for grid in json.load(open("out"))["grids"] if grid["ranks"] == row["ranks"] and grid["dense_cols"] == k]
    assert row["seconds"] == min(grid["seconds"] for grid in same), row
assert len(seen) > 2, seen
PYTHON
}
for file in square wide hub; do
  element=4
  if [ $file = wide ]; then element=8; fi
  for threads in 1 2; do
    OMP_NUM_THREADS=$threads expect 0 csr-forecast $file.csr --ranks 2,3,16,64 -k 7,128 --profile cluster --json
    check $file.csr 7 $element
    check $file.csr 128 $element
  done
done
for method in blocks stream community; do
  for file in square wide; do
    element=4
    if [ $file = wide ]; then element=8; fi
    csr-partition $file.csr ranked.csr --parts 2,4,8,64 --method $method --force --quiet
    expect 0 csr-forecast ranked.csr --ranks 2,4,48,64 -k 32 --json
    check ranked.csr 32 $element
    if [ $method = community ] && [ $file = square ]; then
      gained=$(json best.0.gained_over_plain_blocks)
      [ "$gained" != "" ] || fail "no gain in the record"
    fi
  done
done
expect 0 csr-forecast square.csr --ranks 2,4 -k 32 --profile h200x4
prints "not worth it: one rank takes"
prints "#SBATCH --gres=gpu:"
expect 0 csr-forecast square.csr --ranks 1000 -k 8
prints "#SBATCH --ntasks=1000"

refused() { # refused CODE TEXT ARGUMENTS...
  local code=$1 text=$2
  shift 2
  expect "$code" csr-forecast "$@"
  says "$text"
}
refused 2 "the profile 'h200x4' is of 4 ranks" square.csr --ranks 8 --profile h200x4
refused 2 "--profile is for --ranks" square.csr --profile cluster
refused 2 "--random-reads is for --ranks" square.csr --random-reads
refused 2 "--kernel is not for --ranks" square.csr --ranks 2 --kernel auto
refused 2 "expected A.csr alone" --ranks 2
refused 2 "expected A.csr alone" square.csr wide.csr --ranks 2
refused 2 "must be h200x4, cluster or a JSON file" square.csr --ranks 2 --profile laptop
refused 2 "--ranks" square.csr --ranks 0
refused 2 "not enough rows and columns" wide.csr --ranks 60000 -k 1

# A profile of one's own: that of csr-probe inside what the page shows.
python3 - >own.json <<'PYTHON'
import json
device = {"device": "cpu", "name": "a core", "kernel": "cpu.spmm.auto", "workers": 1, "rows_per_turn": 0,
          "private_cache_bytes": 1e6, "shared_cache_bytes": 0, "memory_bytes": 1e9, "copy_bytes_per_second": 1e10,
          "fixed_seconds": 1e-6, "gather": [{"dense_cols": 32, "seconds_per_output_row": 1e-8,
          "seconds_per_streamed_row": 1e-8, "table_bytes": [1e5, 1e8], "seconds_per_read": [1e-8, 5e-8]}]}
print(json.dumps({"format": "csrkit cluster profile", "version": 1, "name": "mine", "nodes": 2, "ranks_per_node": 2,
                  "cores_per_rank": 1, "rank_memory_bytes": 1e6, "device": device,
                  "link": {"bytes_per_second": 1e9, "seconds_per_exchange": 1e-6},
                  "network": {"bytes_per_second": 1e8, "seconds_per_exchange": 1e-5}}))
PYTHON
expect 0 csr-forecast square.csr --ranks 2,4 -k 16,4096 --profile own.json
prints "does not fit"
prints "no grid fits the memory of a rank"
for broken in '"nodes": 2|"nodes": -1' '"version": 1|"version": 2' '"bytes_per_second": 1000000000.0|"bytes_per_second": 0' \
  '"network"|"no network"' '"csrkit cluster profile"|"profile"' '"ranks_per_node": 2|"ranks_per_node": 0'; do
  sed "s/${broken%|*}/${broken#*|}/" own.json >broken.json
  if cmp -s own.json broken.json; then fail "nothing was broken by $broken"; fi
  refused 3 "broken.json" square.csr --ranks 2 --profile broken.json
done
# Reads in the order of the entries: never more than at random, and less of neighbours that are alike.
csr-generate banded band.csr --set n=20000 --set bandwidth=8 --quiet
for how in "" --random-reads; do
  csr-forecast band.csr --ranks 1,2 -k 64 --profile own.json $how --json >"said$how"
done
python3 - <<'PYTHON' || fail "reads in order"
import json
in_order, random = (json.load(open(name)) for name in ("said", "said--random-reads"))
assert (random["reads"], in_order["reads"]) == ("random", "in order")
for one, other in zip(random["grids"], in_order["grids"]):
    assert other["seconds"] < one["seconds"] and other["moved_bytes"] == one["moved_bytes"], (one, other)
PYTHON
