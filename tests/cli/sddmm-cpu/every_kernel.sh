# shellcheck shell=bash
# Every kernel of the list passes the full check through the tool; operands and results go in and out.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --value-kind f64 --quiet
csr-generate rmat graph.csr --set scale=10 --quiet
for kernel in $(csr-sddmm-cpu --list --json | python3 -c '
import json, sys
print(*[row["kernel"] for row in json.load(sys.stdin)["rows"]])'); do
  for words in "" "--times-values" "--alpha 2 --beta=-1" "--times-values --beta 0.5 --alpha=-3"; do
    # shellcheck disable=SC2086 # words on purpose
    expect 0 csr-sddmm-cpu karate.csr -k 41 --kernel "$kernel" --repeat 2 --check=full --json $words
    equals "$(json kernel)" "$kernel"
    equals "$(json check.passed)" True
  done
done
for kind in none f32 f64 f16 bf16; do
  expect 0 csr-sddmm-cpu karate.csr --value-kind $kind --repeat 1 --check=full --times-values
done
for kind in f16 bf16; do
  expect 0 csr-sddmm-cpu karate.csr --value-kind f32 --dense-kind $kind --output-kind $kind --repeat 1 --check=full --beta 1
  expect 0 csr-sddmm-cpu graph.csr --value-kind f32 --dense-kind $kind --times-values --repeat 1 --threads 2 --check=sampled
  prints " rows, a sample)" # and no projection
done
expect 0 csr-sddmm-cpu karate.csr --repeat 1 --check --json
equals "$(json kernel_run)" cpu.sddmm.nnz_balanced
equals "$(json kinds.b)" f64
equals "$(json times_values)" False
# What comes in is used: X Y^T by hand, where A has entries.
csr-spmm-cpu karate.csr -k 3 --output x.npy --seed 3 --quiet
csr-spmm-cpu karate.csr -k 3 --output y.npy --seed 4 --quiet
expect 0 csr-sddmm-cpu karate.csr --input-x x.npy --input-y y.npy --output c.npy --alpha 2 --beta 3 --quiet
expect 0 csr-sddmm-cpu karate.csr -k 3 --input-x x.npy --input-y y.npy --output c.csr --times-values --check=full
prints "c.csr"
expect 0 csr-info c.csr --verify
expect 0 csr-export karate.csr a.mtx --quiet
expect 0 csr-export c.csr c.mtx --quiet
python3 - <<'END'
import struct

def npy(path):
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0]
    numbers = data[10 + length:]
    return struct.unpack(f"<{len(numbers) // 8}d", numbers)

def entries(path):
    lines = [line.split() for line in open(path) if not line.startswith("%")][1:]
    return sorted((int(i) - 1, int(j) - 1, float(value)) for i, j, value in lines)

x, y, c = npy("x.npy"), npy("y.npy"), npy("c.npy")
of_a, of_c = entries("a.mtx"), entries("c.mtx")
assert len(of_a) == len(of_c) == len(c) > 100
for (i, j, value), (row, col, scaled), found in zip(of_a, of_c, c):
    dot = sum(x[3 * i + k] * y[3 * j + k] for k in range(3))
    assert abs(found - (2 * dot + 3 * value)) < 1e-12, (i, j)
    assert (row, col) == (i, j) and abs(scaled - value * dot) < 1e-12, (i, j)
END
# The bench measures these kernels side by side, and checks its own records.
expect 0 csr-bench graph.csr --kernels cpu.sddmm.auto,cpu.sddmm.row_loop -k 8,64 --repeat 2 --records records.jsonl
python3 -c '
import json
records = [json.loads(line) for line in open("records.jsonl")]
assert [record["case"]["dense_cols"] for record in records] == [8, 8, 64, 64]
assert all(record["case"]["operation"] == "sddmm" and record["check"]["passed"] for record in records)'
expect 0 csr-forecast graph.csr --operation sddmm -k 8,64
