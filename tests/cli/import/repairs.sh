# shellcheck shell=bash
# Unsorted and duplicate entries are repaired, and counted.
cat >messy.mtx <<'EOF'
%%MatrixMarket matrix coordinate integer general
3 3 5
3 1 7
1 1 1
1 1 2
2 3 4
1 2 5
EOF
expect 0 csr-import messy.mtx sum.csr --json
equals "$(json duplicates)" 1
equals "$(json entries_read)" 5
equals "$(json nnz)" 4
[ "$(json out_of_order)" -ge 1 ] || fail "order was not noticed"
csr-export sum.csr sum.mtx --quiet
grep -qE '^1 1 3(\.0*)?$' sum.mtx || fail "1 + 2 is not 3"
csr-import messy.mtx first.csr --duplicates=first --quiet
csr-export first.csr first.mtx --quiet
grep -qE '^1 1 1(\.0*)?$' first.mtx || fail "the first entry was not kept"
