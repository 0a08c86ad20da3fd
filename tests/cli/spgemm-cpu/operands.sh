# shellcheck shell=bash
# Two operands, a mask, a threshold: the product in the file is the one that was asked for.
tiny_mtx >tiny.mtx
csr-import tiny.mtx a.csr --value-kind f64 --quiet
expect 0 csr-spgemm-cpu a.csr --output square.csr --repeat 1 --check --json
equals "$(json b_is_a)" True
equals "$(json output)" square.csr
csr-export square.csr square.mtx --quiet
# Row 1 of A is (1.5, 0, -2, 0); row 3 is empty: row 1 of A * A is (2.25, 0, -3, 0).
grep -q '^1 1 2.25$' square.mtx || fail "$(cat square.mtx)"
grep -q '^1 3 -3$' square.mtx || fail "$(cat square.mtx)"
csr-info square.csr --verify --quiet
csr-info square.csr --provenance --json | grep -q csr-spgemm-cpu || fail "no provenance"

expect 0 csr-spgemm-cpu a.csr square.csr --output cube.csr --repeat 1 --check
expect 0 csr-spgemm-cpu square.csr a.csr --output other.csr --repeat 1 --check
same_matrix cube.csr other.csr
csr-import tiny.mtx copy.csr --value-kind f64 --quiet
expect 0 csr-spgemm-cpu a.csr copy.csr --transpose-b --output gram.csr --repeat 1 --check --json
equals "$(json b_is_a)" False
expect 0 csr-spgemm-cpu a.csr --transpose-b --output gram2.csr --repeat 1 --check
same_matrix gram.csr gram2.csr

expect 0 csr-spgemm-cpu a.csr --mask a.csr --output masked.csr --repeat 1 --check --json
equals "$(json c.nnz)" 6
expect 0 csr-spgemm-cpu a.csr --drop-below 3 --output dropped.csr --repeat 1 --check --json
equals "$(json c.nnz)" 3
# Rows in any order are checked and timed so; a file has sorted ones, the same to the bit.
expect 0 csr-spgemm-cpu a.csr --unsorted --output unsorted.csr --repeat 1 --check --json
equals "$(json unsorted)" True
same_matrix square.csr unsorted.csr
csr-info unsorted.csr --verify --quiet
expect 2 csr-spgemm-cpu a.csr --unsorted --kernel hash_rows
says "--unsorted"
expect 0 csr-spgemm-cpu a.csr --forecast --json
equals "$(json products)" 8

printf '%%%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n' >small.mtx
csr-import small.mtx small.csr --value-kind f64 --quiet
expect 2 csr-spgemm-cpu a.csr small.csr
says "'a.csr' has 4 rows and 4 columns, 'small.csr' 3 rows and 2 columns: the second needs as many rows"
expect 2 csr-spgemm-cpu a.csr small.csr --transpose-b
says "'small.csr' 3 rows and 2 columns: the second needs as many columns"
expect 2 csr-spgemm-cpu small.csr
says "'small.csr' has 3 rows and 2 columns: its product with itself needs as many rows as columns"
expect 1 csr-bench small.csr --kernels cpu.spgemm.auto --repeat 1
says "multiply by its transpose instead (--transpose-b; in csr-bench and csr-forecast --transpose)"
expect 0 csr-bench small.csr --kernels cpu.spgemm.auto --repeat 1 --transpose
expect 2 csr-spgemm-cpu a.csr --mask small.csr
says "--mask 'small.csr' has 3 rows and 2 columns: it needs those of C, 4 rows and 4 columns"
csr-import tiny.mtx narrow.csr --value-kind f32 --quiet
expect 2 csr-spgemm-cpu a.csr narrow.csr
says "A f64, B f32"
says "--value-kind converts both"
expect 0 csr-spgemm-cpu a.csr narrow.csr --value-kind f64 --repeat 1
expect 2 csr-spgemm-cpu a.csr --output a.csr
expect 2 csr-spgemm-cpu a.csr --drop-below -1
says "--drop-below is '-1'; it must be a number of 0 or more"
expect 3 csr-spgemm-cpu a.csr tiny.mtx
expect 4 csr-spgemm-cpu a.csr nowhere.csr
expect 4 csr-spgemm-cpu a.csr --output no/folder/c.csr
# One product of one entry is singular.
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '1 1 1' '1 1 2' >one.mtx
csr-import one.mtx one.csr --quiet
expect 0 csr-spgemm-cpu one.csr --repeat 1
prints "1 product, at most 1 entry"
