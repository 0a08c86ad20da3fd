# shellcheck shell=bash
# The measures of a matrix that a person can check: rows 0 to 3 with columns {0 2} {1} {} {0 2 3}.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 0 csr-info tiny.csr --locality -k 32 --json
equals "$(json locality.bandwidth) $(json locality.profile)" "3 3"
equals "$(json locality.entries_per_touched_tile)" 6.0
equals "$(json locality.entries_per_vector_of_8)" 1.5 # 6 entries in 4 columns
equals "$(json locality.distinct_cols_per_window)" 4.0
equals "$(json locality.is_exact)" True
# Two of six reads are of rows read before; A is 5 offsets, 6 columns and values: 40 + 24 + 24 (f32)
# or 48 bytes (f64), B is 4 rows of 32 columns, C likewise.
kind=$(json value_kind)
bytes=$([ "$kind" = f64 ] && echo 8 || echo 4)
python3 - "$bytes" <<'END'
import json, sys
width = int(sys.argv[1])
for cache in json.load(open("out"))["locality"]["caches"]:
    assert abs(cache["hit_share"] - 2 / 6) < 1e-12, cache
    minimum = 40 + 6 * (4 + width) + 2 * 4 * 32 * width
    assert cache["minimum_bytes"] == minimum and abs(cache["moved_bytes"] - minimum) < 1e-6, cache
END
expect 0 csr-info tiny.csr --locality
prints "nonzeros per touched 8x1 vector"
prints "K = 256, 60.0 MiB"
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 0\n' >empty.mtx
csr-import empty.mtx empty.csr --quiet
expect 0 csr-info empty.csr --locality
expect 2 csr-info tiny.csr --locality -k 0
expect 2 csr-info tiny.csr -k 32
