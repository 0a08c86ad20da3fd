# shellcheck shell=bash
# Every layout of the Open Graph Benchmark, from the folder and from the archive.
python=$(python_with numpy scipy) || { echo "no Python with NumPy and SciPy"; exit 6; }
fixtures=$CLI_FOLDER/import/ogb_fixtures.py
"$python" "$fixtures" make
check() { # check PATH DATASET [RELATION]
  expect 0 csr-import --force "$1" out.csr ${3:+--relation="$3"} --json
  csr-export --force out.csr out.npz --quiet
  "$python" "$fixtures" compare out "$2" "${3:-}" || fail "$1 ${3:-}"
}
for name in ogbn_arxiv ogbl_collab ogbl_ddi ogbn_papers100M ogbl_vessel ogbg_molhiv ogbg_code2; do
  check "fixtures/$name" $name
done
for pair in papers100M-bin,ogbn_papers100M vessel,ogbl_vessel; do # data.npz, an archive within an archive
  check "fixtures/${pair%,*}.zip" "${pair#*,}"
done
for pair in arxiv,ogbn_arxiv collab,ogbl_collab hiv,ogbg_molhiv; do
  check "fixtures/${pair%,*}.zip" "${pair#*,}"
  equals "$(json "notes.split time")" "test 1, train 2"
done
for relation in author___writes___paper author___affiliated_with___institution paper___cites___paper all; do
  check fixtures/ogbn_mag ogbn_mag $relation
  check fixtures/mag.zip ogbn_mag $relation
done
equals "$(json notes.nodes)" "author 4, institution 2, paper 7"
expect 0 csr-import --force fixtures/ogbn_mag/raw/relations/author___writes___paper/edge.csv.gz out.csr --json
equals "$(json rows) $(json cols)" "4 7"
expect 2 csr-import fixtures/mag.zip no.csr
says "author___writes___paper (4 x 7)"
head -c 300 fixtures/papers100M-bin.zip >cut.zip
expect 3 csr-import cut.zip no.csr --format ogb --add-inverse=false
rm fixtures/ogbn_arxiv/raw/num-node-list.csv.gz
expect 3 csr-import fixtures/ogbn_arxiv no.csr
says "expected num-node-list.csv.gz"
expect 3 csr-import fixtures/ogbn_arxiv/raw/edge.csv.gz no.csr
says "expected num-node-list.csv.gz"
no_file no.csr
