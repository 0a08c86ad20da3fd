# shellcheck shell=bash
# Everything in datasets/ imports, verifies and has the shape that the catalogue gives.
for file in "$DATASETS"/*.mtx "$DATASETS"/*.mtx.gz; do
  csr-import "$file" one.csr --force --quiet
  csr-info one.csr --verify --quiet
  expect 0 csr-info one.csr --header-only --json
  name=$(basename "$file")
  name=${name%%.mtx*}
  grep -q "^$name	" "$DATASETS/catalog.tsv" || fail "$name is not in catalog.tsv"
  for key in rows cols; do
    grep "^$name	" "$DATASETS/catalog.tsv" | tr '\t' '\n' | tr -d , | grep -qx "$(json $key)" ||
      fail "$name: the catalogue gives other $key than $(json $key)"
  done
done
