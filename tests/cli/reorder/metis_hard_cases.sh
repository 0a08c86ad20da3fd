# shellcheck shell=bash
# What METIS itself would choke on: each gives a right order or a clean error, and leaves no child.
if csr-reorder --list | grep -q "NOT AVAILABLE"; then exit 0; fi
matrix() { printf '%%%%MatrixMarket matrix coordinate pattern general\n%s\n' "$2" >"$1.mtx"; }
matrix directed "5 5 5
1 2
2 3
3 4
4 5
5 1"
matrix apart "8 8 6
1 2
2 1
5 6
6 5
7 8
8 7"
matrix isolated "6 6 2
2 5
5 2"
matrix empty_rows "5 5 0"
matrix loops "4 4 6
1 1
2 2
3 3
4 4
1 3
3 1"
matrix twice "3 3 5
1 2
1 2
2 1
2 3
2 3"
matrix one "1 1 1
1 1"
for name in directed apart isolated empty_rows loops twice one; do
  csr-import $name.mtx $name.csr --json >out
  rows=$(json rows)
  for method in metis-nested-dissection "metis-partition --parts 1" "metis-partition --parts $((rows > 1 ? 2 : 1))" \
    "metis-partition --parts $rows"; do
    # shellcheck disable=SC2086 # a method and its options
    expect 0 csr-reorder $name.csr new.csr --method $method --quiet
    csr-info new.csr --verify --quiet || fail "$name, $method: the file is not valid"
    expect 0 csr-reorder new.csr back.csr --undo --quiet
    same_matrix $name.csr back.csr
    rm -f new.csr back.csr
  done
done
if pgrep -P $$ csr-reorder >/dev/null; then fail "a child is left"; fi
# METIS alone without memory, at several moments: exit code 5, a sentence, no file.
csr-generate poisson grid.csr --set nx=300 --set ny=300 --quiet
METIS=$(dirname "$(command -v csr-reorder)")/../libexec/csrkit/csrkit-metis
export METIS
cat >limited.sh <<'END'
#!/bin/sh
ulimit -v "$LIMIT" && exec "$METIS" "$@"
END
chmod +x limited.sh
for method in metis-nested-dissection "metis-partition --parts 8"; do
  failed=0
  for limit in 8000 12000 14000 16000 18000 20000 24000 4000000; do
    code=0
    # shellcheck disable=SC2086 # a method and its options
    LIMIT=$limit CSRKIT_METIS_HELPER=$PWD/limited.sh csr-reorder grid.csr new.csr --method $method --quiet 2>err || code=$?
    if [ $code -eq 0 ]; then
      rm new.csr
      continue
    fi
    equals "$code" 5
    says "which need far less"
    no_file new.csr
    failed=$((failed + 1))
  done
  equals "$code" 0
  [ $failed -gt 1 ] || fail "no limit was too low for $method"
done
