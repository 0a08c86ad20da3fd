# shellcheck shell=bash
# Ranks as processes: the same C as one rank's, bytes as promised and counted apart, one voice, one exit code.
needs_mpi
parts=$CLI_FOLDER/../data/golden/rank_parts_f32.csr # 5 x 7, with levels of 2 and 4 parts
counter=$(dirname "$(command -v csr-spmm-dist)")/../../libcsrkit_count_messages.so
expect 0 csr-spmm-cpu "$parts" -k 6 --seed 3 --output whole.npy --repeat 1

for grid in 1x1 1x2 2x1 1x3 4x1 2x2; do
  ranks=$((${grid%x*} * ${grid#*x}))
  mkdir counted
  expect 0 mpi $ranks -x COUNT_MESSAGES="$PWD/counted" -x LD_PRELOAD="$counter" \
    csr-spmm-dist "$parts" -k 6 --seed 3 --grid $grid --exchange messages --check --repeat 2 --warmup 1 --output c.npy --json
  python3 - "$grid" <<'END' || fail "grid $grid"
import json, os, struct, sys
record = json.load(open("out"))
assert record["launcher"] == "mpirun" and len(record["ranks"]) == record["grid"]["parts"] * record["grid"]["groups"]
products = 4  # the first, a warm-up, two that are measured
received = {rank["rank"]: 0 for rank in record["ranks"]}
for rank in record["ranks"]:
    sent = 0
    for line in open(f"counted/{rank['rank']}"):
        to, amount = map(int, line.split())
        received[to] += amount
        sent += amount
    assert sent == products * rank["bytes_sent"], (rank, sent)
    assert rank["bytes_received"] == rank["halo_cols"] * rank["dense_cols"] * 4, rank
for rank in record["ranks"]:
    assert received[rank["rank"]] == products * rank["bytes_received"], (rank, received)
assert sum(received.values()) == products * record["bytes"]["total"], received
assert max(received.values()) == products * record["bytes"]["worst_rank"], received
assert (record["bytes"]["total"] > 0) == (record["grid"]["parts"] > 1)
def elements(path):
    data = open(path, "rb").read()
    return struct.unpack(f"<{5 * 6}f", data[-5 * 6 * 4:])
for found, expected in zip(elements("c.npy"), elements("whole.npy")):
    same = found == expected or found != found and expected != expected  # the matrix has a NaN
    assert same or abs(found - expected) <= 1e-5 * max(1, abs(expected)), (found, expected)
END
  rm -r counted c.npy
done

# Processes of one host read each other's rows of B, as threads do: the same bits, powers too, whose C is B of the next.
csr-generate rmat square.csr --set scale=9 --quiet
csr-partition square.csr square.parts --parts 2,4 --method blocks --split-hubs 60 --quiet
for case in "2x1 1" "4x1 1" "2x2 1" "4x1 2" "4x1 3"; do
  read -r grid power <<<"$case"
  ranks=$((${grid%x*} * ${grid#*x}))
  expect 0 mpi $ranks csr-spmm-dist square.parts -k 6 --grid "$grid" --power "$power" --check --repeat 3 --output peer.npy --json
  python3 -c 'import json; way = json.load(open("out"))["exchange"]; assert way == {"way": "peer", "choice": "all ranks are on one host"}, way'
  csr-spmm-dist square.parts -k 6 --grid "$grid" --power "$power" --ranks $ranks --threads 1 --exchange peer --repeat 1 \
    --output threads.npy --quiet
  cmp peer.npy threads.npy || fail "grid $grid, power $power: processes and threads make other bits"
  rm peer.npy threads.npy
done

# A B from a file, of either order, and C in its place whatever the grid.
if python=$(python_with numpy); then
  "$python" -c "
import numpy
b = numpy.arange(42, dtype='f4').reshape(7, 6) - 20
numpy.save('b.npy', b); numpy.save('fortran.npy', numpy.asfortranarray(b))"
  expect 0 csr-spmm-cpu "$parts" -k 6 --input b.npy --output whole.npy --repeat 1 --force
  for b in b.npy fortran.npy; do
    expect 0 mpi 4 csr-spmm-dist "$parts" -k 6 --grid 2x2 --input $b --output c.npy --check --repeat 1
    "$python" -c "import numpy; assert numpy.allclose(numpy.load('c.npy'), numpy.load('whole.npy'), rtol=1e-6, equal_nan=True)" || fail "$b"
    rm c.npy
  done
  expect 3 mpi 4 csr-spmm-dist "$parts" -k 5 --grid 2x2 --input b.npy
  says "expected an array of 7 x 5 elements of f32"
fi

# What is wrong is said once, and leaves nothing behind.
expect 2 mpi 3 csr-spmm-dist "$parts" --grid 3x1 --output c.npy
says "holds parts for 2 and 4 ranks, not for 3; run csr-partition"
[ "$(grep -c 'error:' err)" -eq 1 ] || fail "several ranks spoke"
expect 2 mpi 2 csr-spmm-dist "$parts" --ranks 2
says "mpirun has started 2 ranks already"
expect 2 mpi 2 csr-spmm-dist "$parts" --no-such-option
[ "$(grep -c 'there is no option' err)" -eq 1 ] || fail "several ranks spoke"
expect 0 mpi 2 csr-spmm-dist --help
[ "$(grep -c '^usage:' out)" -eq 1 ] || fail "help was printed more than once"
expect 2 mpi 2 csr-spmm-dist "$parts" --grid 2x1 --power 2
says "--power needs a square matrix; this one has 5 x 7"

# Damage in one part's lists or rows is its rank's business, and ends all.
cp "$parts" damaged.csr
python3 - <<'END'
data = bytearray(open("damaged.csr", "rb").read())
names = [data[128 + 32 * i:128 + 32 * i + 16].rstrip(b"\0") for i in range(16)]
at = int.from_bytes(data[128 + 32 * names.index(b"rank_lists") + 16:][:8], "little")
data[at + 4] ^= 1
open("damaged.csr", "wb").write(data)
END
expect 3 mpi 4 csr-spmm-dist damaged.csr --grid 4x1 --output c.npy
says "rank_lists"
[ "$(grep -c 'error:' err)" -eq 1 ] || fail "several ranks spoke"
no_file c.npy
