# shellcheck shell=bash
# C of any number of ranks has the bytes of csr-spgemm-cpu's, but for the history; failures leave nothing.
csr-generate rmat graph.csr --set scale=12 --seed 3 --quiet
csr-generate row-lengths tall.csr --set rows=500 --set cols=4096 --quiet 2>/dev/null || csr-generate dense tall.csr --set rows=30 --set cols=4096 --quiet
expect 0 csr-spgemm-cpu graph.csr --repeat 1 --output whole.csr --quiet
same_arrays() {
  python3 - "$1" "$2" <<'END' || fail "$1 and $2 differ"
import sys
def arrays(path):
    data = open(path, "rb").read()
    result = {"numbers": data[16:56]}
    for i in range(16):
        slot = data[128 + 32 * i:160 + 32 * i]
        name = slot[:16].rstrip(b"\0").decode()
        at, size = int.from_bytes(slot[16:24], "little"), int.from_bytes(slot[24:32], "little")
        if name in ("row_offsets", "col_indices", "values"):
            result[name] = data[at:at + size]
    return result
first, second = map(arrays, sys.argv[1:])
assert len(first) == 4 and first == second, [name for name in first if first[name] != second[name]]
END
}
for ranks in 1 2 5; do
  expect 0 csr-spgemm-dist graph.csr --ranks $ranks --threads 1 --repeat 1 --check --output c.csr --json
  same_arrays c.csr whole.csr
  equals "$(json output_nnz)" "$(csr-info whole.csr --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["nnz"])')"
  expect 0 csr-info c.csr --quiet # its checksums hold
  rm c.csr
done
expect 0 csr-spgemm-cpu tall.csr graph.csr --repeat 1 --output other.csr --quiet
expect 0 csr-spgemm-dist tall.csr graph.csr --ranks 3 --repeat 1 --check --output c.csr --quiet
same_arrays c.csr other.csr
rm c.csr
expect 2 csr-spgemm-dist graph.csr tall.csr --ranks 2
says "a product needs as many"
expect 4 csr-spgemm-dist graph.csr missing.csr --ranks 2
(
  ulimit -f 1000
  expect 4 csr-spgemm-dist graph.csr --ranks 2 --repeat 1 --output c.csr
  says "cannot write 'c.csr'"
)
no_file c.csr
needs_mpi
expect 0 mpi 3 csr-spgemm-dist graph.csr --repeat 1 --check --output c.csr --quiet
same_arrays c.csr whole.csr
