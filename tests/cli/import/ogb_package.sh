# shellcheck shell=bash
# The ogb package reads the same fixtures, by its own table of data sets.
python=$(python_with numpy scipy pandas ogb) || { echo "no Python with the ogb package"; exit 6; }
fixtures=$CLI_FOLDER/import/ogb_fixtures.py
"$python" "$fixtures" make
check() { # check DATASET [RELATION]
  csr-import --force "fixtures/$1" out.csr ${2:+--relation="$2"} --quiet
  csr-export --force out.csr out.npz --quiet
  "$python" "$fixtures" package out "$@" >package.log 2>&1 || { cat package.log; fail "$*"; }
}
for name in ogbn_arxiv ogbl_collab ogbl_ddi ogbn_papers100M ogbl_vessel ogbg_molhiv ogbg_code2; do check $name; done
for relation in author___writes___paper author___affiliated_with___institution paper___cites___paper all; do
  check ogbn_mag $relation
done
# Whether edges are added reversed, for every data set there is, by both its names.
"$python" "$fixtures" inverse >inverse.txt
[ "$(wc -l <inverse.txt)" -ge 27 ] || fail "the package knows fewer data sets than it did"
while read -r name download inverse; do
  for folder in "$name" "$download"; do
    mkdir -p "tiny/$folder/raw"
    printf '0,1\n' >"tiny/$folder/raw/edge.csv"
    printf '2\n' | tee "tiny/$folder/raw/num-node-list.csv" >/dev/null
    expect 0 csr-import --force "tiny/$folder" out.csr --json
    equals "$folder $(json notes.add-inverse)" "$folder $inverse"
    rm -r "tiny/$folder"
  done
done <inverse.txt
