# shellcheck shell=bash
# Bytes that the heads of a file promise are the bytes that MPI moves, to the byte, in all and to the worst rank,
# counted apart: for parts by blocks, of rows in random order, of split rows, and, where it is built, by METIS. Where
# ranks read each other's rows of B instead, the same bytes are said, and messages carry the sums of split rows alone.
needs_mpi
command -v csr-partition >/dev/null || { echo "csr-partition is not installed"; exit 6; }
counter=$(dirname "$(command -v csr-spmm-dist)")/../../libcsrkit_count_messages.so
csr-generate communities graph.csr --set n=3000 --set mean=8 --seed 2 --quiet
csr-reorder graph.csr random.csr --method random --quiet
csr-partition graph.csr blocks.parts --parts 2,4,16 --method blocks --quiet
csr-partition random.csr random.parts --parts 2,4,16 --method blocks --quiet
csr-partition graph.csr metis.parts --parts 2,4,16 --method metis --quiet 2>/dev/null || rm -f metis.parts
csr-generate rmat power.csr --set scale=10 --quiet
csr-partition power.csr split.parts --parts 2,4,16 --method blocks --split-hubs 100 --quiet
for parts in *.parts; do
  for case in "2x1 messages" "4x1 messages" "2x2 messages" "16x1 messages" "4x1 peer" "2x2 peer"; do
    read -r grid way <<<"$case"
    ranks=$((${grid%x*} * ${grid#*x}))
    mkdir counted
    expect 0 mpi $ranks -x COUNT_MESSAGES="$PWD/counted" -x LD_PRELOAD="$counter" \
      csr-spmm-dist "$parts" -k 6 --grid "$grid" --exchange "$way" --check --repeat 1 --warmup 0 --json --quiet
    csr-forecast "$parts" --ranks $ranks -k 6 --profile cluster --json >forecast
    python3 - "$grid" "$way" <<'END' || fail "$parts, grid $grid, $way"
import json, sys
record = json.load(open("out"))
received = {rank["rank"]: 0 for rank in record["ranks"]}
for rank in received:
    for line in open(f"counted/{rank}"):
        to, amount = map(int, line.split())
        received[to] += amount
assert record["exchange"]["way"] == sys.argv[2], record["exchange"]
products = 2  # the first, and one that is measured
for rank in record["ranks"]:
    in_place = rank["halo_cols"] * rank["dense_cols"] * 4 if sys.argv[2] == "peer" else 0
    assert rank["halo_cols"] > 0
    received[rank["rank"]] += products * in_place
    promised = (rank["halo_cols"] + rank["sums_received"]) * rank["dense_cols"] * 4
    assert received[rank["rank"]] == products * promised == products * rank["bytes_received"] > 0, rank
assert sum(received.values()) == products * record["bytes"]["total"]
assert max(received.values()) == products * record["bytes"]["worst_rank"]
for grid in json.load(open("forecast"))["grids"]:
    if f"{grid['row_parts']}x{grid['column_groups']}" != sys.argv[1]: continue
    assert grid["moved_bytes"] * products == sum(received.values()), grid
    assert grid["worst_received_bytes"] * products == max(received.values()), grid
    break
else:
    raise SystemExit("no such grid in the forecast")
END
    rm -r counted
  done
done
