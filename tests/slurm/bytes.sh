#!/usr/bin/env bash
# Bytes predicted are bytes moved, in all and to the worst rank, on 2 to 64 ranks of one or two nodes under a real Slurm
# that this script starts and ends: parts by blocks, METIS, in random order and with split rows. Messages are counted apart
# from the program, by MPI's profiling interface. Sums are of whole numbers: C is exactly that of one process.
#
# Usage: bytes.sh ROOT BIN_FOLDER    (exit code 77: Slurm, MPI or the counter is missing)
set -euo pipefail
export SLURM_LOCAL_CPUS=64 OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1
# shellcheck source=tests/slurm/setup.sh
. "$(dirname "$0")/setup.sh" "$1" "$2"
ls "$bin"/../lib*/libcsrkit_mpi.so.* >/dev/null 2>&1 || { echo "skipped: built without MPI"; exit 77; }
counter=$bin/../../libcsrkit_count_messages.so
[ -e "$counter" ] || { echo "skipped: $counter is not built"; exit 77; }

csr-generate communities graph.csr --set n=8000 --set mean=8 --seed 2 --value-kind none --quiet
csr-reorder graph.csr shuffled.csr --method random --quiet
csr-partition graph.csr blocks.parts --parts 2,4,8,16,32,64 --method blocks --quiet
csr-partition shuffled.csr random.parts --parts 2,4,8,16,32,64 --method blocks --quiet
csr-partition graph.csr metis.parts --parts 2,4,8,16,32,64 --method metis --quiet 2>/dev/null || rm -f metis.parts
csr-partition graph.csr split.parts --parts 2,4,8,16,32,64 --method blocks --split-hubs 40 --quiet
python3 - <<'END' # B of whole numbers
import struct
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (8000, 6), }".ljust(117) + "\n"
numbers = [(7 * row + 3 * col) % 17 - 8 for row in range(8000) for col in range(6)]
open("b.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<48000f", *numbers))
END

for parts in *.parts; do
  csr-spmm-cpu "$parts" -k 6 --input b.npy --output whole.npy --repeat 1 --force --quiet
  csr-forecast "$parts" --ranks 2,4,8,16,32,64 -k 6 --profile cluster --json >forecast
  for ranks in 2 4 8 16 32 64; do
    rm -rf counted && mkdir counted
    # Nodes that are one host have the same folders and addresses to Open MPI, whose MPI_Init then fails now and then with
    # many ranks.
    nodes=$((ranks > 4 ? 1 : 2))
    COUNT_MESSAGES=$PWD/counted LD_PRELOAD=$counter ranks -N $nodes -n $ranks csr-spmm-dist "$parts" -k 6 \
      --grid ${ranks}x1 --exchange messages --input b.npy --check --repeat 1 --warmup 0 --output c.npy --force --json --quiet \
      || fail "$parts on $ranks ranks: $(cat err)"
    cmp c.npy whole.npy || fail "$parts on $ranks ranks: another C"
    python3 - "$parts" $ranks <<'END' || fail "$parts on $ranks ranks"
import json, sys
record, ranks = json.load(open("out")), int(sys.argv[2])
assert record["launcher"] == "srun" and len(record["ranks"]) == ranks
received = [0] * ranks
for rank in range(ranks):
    for line in open(f"counted/{rank}"):
        to, amount = map(int, line.split())
        received[to] += amount
products = 2  # the first, and one that is measured
grid = next(g for g in json.load(open("forecast"))["grids"] if g["row_parts"] == ranks)
assert grid["moved_bytes"] * products == sum(received) == products * record["bytes"]["total"] > 0, grid
assert grid["worst_received_bytes"] * products == max(received) == products * record["bytes"]["worst_rank"], grid
print(f"| {sys.argv[1].partition('.')[0]} | {ranks} | {grid['moved_bytes']:,} | {grid['worst_received_bytes']:,} |")
END
  done
done
