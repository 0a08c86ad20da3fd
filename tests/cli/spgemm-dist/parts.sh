# shellcheck shell=bash
# Blocks that the file holds: rows of B travel by its lists, as many bytes as csr-forecast says, and nothing is asked.
csr-generate communities graph.csr --set n=3000 --set mean=8 --seed 2 --quiet
csr-generate rmat power.csr --set scale=11 --seed 5 --value-kind f64 --quiet
csr-generate erdos-renyi wide.csr --set rows=900 --set cols=3000 --set nnz=9000 --quiet
csr-partition graph.csr graph.parts --parts 2,4,8 --method stream --quiet
csr-partition power.csr power.parts --parts 2,4,8 --method community --quiet
csr-partition wide.csr wide.parts --parts 2,4,8 --method blocks --quiet

same_arrays() {
  csr-export "$1" first.mtx --force --quiet
  csr-export "$2" second.mtx --force --quiet
  cmp first.mtx second.mtx || fail "$1 and $2 differ"
}
as_forecast() { # as_forecast SOURCE: the record in ./out moved what the forecast in ./forecast says
  python3 - "$1" <<'END'
import json, sys
record = json.load(open("out"))
ranks = record["ranks"]
assert record["blocks"] == sys.argv[1], record["blocks"]
row = [row for row in json.load(open("forecast"))["blocks"] if row["ranks"] == len(ranks) and row["blocks_from"] == sys.argv[1]]
assert len(row) == 1, row
row = row[0]
found = (record["bytes"]["total"], record["bytes"]["worst_rank"], max(rank["bytes_sent"] for rank in ranks),
         record["products"], max(rank["products"] for rank in ranks))
wanted = tuple(row[name] for name in ("moved_bytes", "worst_received_bytes", "worst_sent_bytes", "products", "worst_products"))
assert found == wanted and wanted[0] > 0, (found, wanted)
lists = sum(rank["list_bytes_received"] for rank in ranks)
assert (lists == 0) == (sys.argv[1] == "file"), lists
if sys.argv[1] == "file": assert all(rank["phases"]["ask_seconds"] == 0 for rank in ranks)
END
}
for names in "graph.parts" "power.parts" "wide.parts graph.csr"; do
  read -ra words <<<"$names"
  expect 0 csr-spgemm-cpu "${words[@]}" --repeat 1 --output whole.csr --force --quiet
  expect 0 csr-forecast "${words[@]}" --operation spgemm --ranks 2,3,4,8 --json
  mv out forecast
  for ranks in 2 4 8; do
    expect 0 csr-spgemm-dist "${words[@]}" --ranks $ranks --threads 1 --repeat 1 --warmup 0 --check --output c.csr --force --json
    as_forecast file
    same_arrays c.csr whole.csr
  done
  expect 0 csr-spgemm-dist "${words[@]}" --ranks 4 --threads 1 --repeat 1 --warmup 0 --blocks products --output c.csr --force --json
  as_forecast products
  same_arrays c.csr whole.csr
  expect 0 csr-spgemm-dist "${words[@]}" --ranks 3 --threads 1 --repeat 1 --warmup 0 --json
  as_forecast products
done
expect 0 csr-spgemm-dist power.parts --ranks 2 --threads 1 --repeat 1 --value-kind f32 --check --json
python3 -c 'import json; record = json.load(open("out"))
assert record["bytes"]["total"] == 8 * sum(rank["entries_received"] for rank in record["ranks"])'
expect 0 csr-forecast graph.parts --operation spgemm --ranks 4
prints "speed-up at most"

expect 2 csr-spgemm-dist graph.csr --ranks 2 --blocks file --output no.csr
says "holds no parts for ranks; run csr-partition --method blocks --parts"
expect 2 csr-spgemm-dist graph.parts --ranks 3 --blocks file --output no.csr
says "holds parts for 2, 4 and 8 ranks, not for 3"
expect 2 csr-spgemm-dist graph.parts --ranks 2 --blocks rows
says "--blocks"
expect 2 csr-forecast graph.csr wide.csr --operation spgemm --ranks 2
says "a product needs as many"
expect 2 csr-forecast graph.csr --operation spgemm --ranks 2 -k 8
says "--dense-cols is not for --ranks of --operation spgemm"
expect 2 csr-forecast graph.csr --operation spgemm --ranks 2 --profile cluster
says "--profile is not for --ranks of --operation spgemm"
expect 2 csr-forecast graph.csr --operation sddmm --ranks 2
says "is for --operation spmm or spgemm"
expect 2 csr-forecast graph.csr graph.csr --ranks 2
says "expected A.csr alone"

# Lists that name too little, under a checksum that holds: found by the rank that reads them.
cp graph.parts damaged.csr
csr-info graph.parts --header-only --json >header.json
python3 - <<'END'
import json
data = bytearray(open("damaged.csr", "rb").read())
section = next(s for s in json.load(open("header.json"))["sections"] if s["name"] == "rank_lists")
data[section["offset_bytes"] + 40] ^= 1
open("damaged.csr", "wb").write(data)
END
expect 3 csr-spgemm-dist damaged.csr --ranks 2 --output no.csr
says "rank_lists"
no_file no.csr

# Apart from the program, what MPI was asked to send.
needs_mpi
counter=$(dirname "$(command -v csr-spgemm-dist)")/../../libcsrkit_count_messages.so
expect 0 csr-forecast graph.parts --operation spgemm --ranks 4 --json
mv out forecast
mkdir counted
expect 0 mpi 4 -x COUNT_MESSAGES="$PWD/counted" -x LD_PRELOAD="$counter" \
  csr-spgemm-dist graph.parts --check --repeat 1 --warmup 0 --json --quiet
as_forecast file
python3 - <<'END'
import json
record = json.load(open("out"))
received = [0] * 4
for rank in range(4):
    for line in open(f"counted/{rank}"):
        to, amount = map(int, line.split())
        received[to] += amount
assert received == [2 * rank["bytes_received"] for rank in record["ranks"]], received  # the first, and one that is measured
END
