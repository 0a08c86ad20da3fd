# shellcheck shell=bash
# Every method, on every side it allows; the way back needs nothing but the file.
csr-import "$DATASETS/cora.mtx.gz" square.csr --values=random --quiet
csr-import "$DATASETS/lp_afiro.mtx" wide.csr --quiet
methods=$(csr-reorder --list --json | python3 -c '
import json, sys
print(*[row["name"] for row in json.load(sys.stdin)["rows"] if "NOT AVAILABLE" not in row["summary"]])')
for method in $methods; do
  for sides in rows cols both; do
    csr-reorder --force square.csr moved.csr --method "$method" --sides=$sides --quiet
    csr-info moved.csr --verify --quiet
    csr-reorder --force moved.csr twice.csr --method random --seed 9 --quiet
    csr-reorder --force twice.csr back.csr --undo --quiet
    csr-info back.csr --verify --quiet
    same_matrix square.csr back.csr
  done
done
for method in $methods; do
  case $method in metis-*)
    expect 2 csr-reorder wide.csr out.csr --method "$method"
    says "square"
    continue
    ;;
  esac
  csr-reorder --force wide.csr moved.csr --method "$method" --quiet
  csr-reorder --force moved.csr moved.csr --method "$method" --sides=cols --quiet
  csr-reorder --force moved.csr moved.csr --method "$method" --sides=both --quiet
  csr-reorder --force moved.csr back.csr --undo --quiet
  same_matrix wide.csr back.csr
done
expect 2 csr-reorder square.csr out.csr --undo
says "'square.csr' holds no order to undo: its rows and columns are in the order of import; use it as it is"
# Parts that are blocks of rows are cut where they stand.
csr-partition square.csr blocks.csr --method blocks --parts 4 --quiet
expect 2 csr-reorder blocks.csr out.csr --undo
says "'blocks.csr' holds no order to undo: its rows and columns are in the order of import; use it as it is"
no_file out.csr
expect 2 csr-reorder square.csr out.csr --method no-such-method
no_file out.csr
# Sparse results of reordered matrices are in the same order, and know it: made whole, or in blocks of rows.
csr-reorder square.csr moved.csr --method rcm --force --quiet
csr-reorder square.csr rows.csr --method random --sides=rows --quiet
csr-spgemm-cpu square.csr --output squared.csr --quiet --value-kind none
expect 0 csr-spgemm-cpu moved.csr --output c.csr --quiet --value-kind none
silent err
csr-reorder c.csr back.csr --undo --force --quiet
same_matrix squared.csr back.csr
csr-spgemm-cpu moved.csr --output blocks_of_c.csr --memory-limit 1M --quiet --value-kind none
cmp <(csr-info c.csr --json | grep -o '"has_row_order.*') <(csr-info blocks_of_c.csr --json | grep -o '"has_row_order.*')
csr-reorder blocks_of_c.csr back.csr --undo --force --quiet
same_matrix squared.csr back.csr
csr-spgemm-cpu square.csr rows.csr --transpose-b --output wanted.csr --quiet --value-kind none 2>/dev/null
csr-spgemm-cpu square.csr square.csr --transpose-b --output transposed.csr --quiet --value-kind none
csr-reorder wanted.csr back.csr --undo --force --quiet
same_matrix transposed.csr back.csr
csr-sddmm-cpu moved.csr -k 1 --alpha 0 --beta 1 --output c.csr --force --quiet
csr-reorder c.csr back.csr --undo --force --quiet
same_matrix square.csr back.csr
# Columns and rows that meet are in different orders.
expect 0 csr-spgemm-cpu moved.csr square.csr --repeat 1
says "columns of 'moved.csr' and rows of 'square.csr' are in different orders"
expect 0 csr-spgemm-cpu rows.csr --repeat 1
says "columns of 'rows.csr' and rows of 'rows.csr' are in different orders"
expect 0 csr-spgemm-cpu rows.csr --transpose-b --repeat 1
silent err
expect 0 csr-spgemm-cpu rows.csr --transpose-b --mask square.csr --repeat 1
says "rows of 'square.csr' and of the product are in different orders"
expect 0 csr-spgemm-cpu moved.csr --mask moved.csr --repeat 1
silent err
csr-generate poisson small.csr --set nx=2 --set ny=2 --quiet
expect 2 csr-spgemm-cpu moved.csr --mask small.csr
expect 2 csr-spgemm-cpu moved.csr moved.csr --mask small.csr
# Degree order shows its direction, and rcm narrows the band.
csr-reorder square.csr up.csr --method degree --quiet
csr-reorder square.csr down.csr --method degree --descending --quiet
csr-info up.csr --json >out
equals "$(json row_lengths.longest_row)" 2707
csr-info down.csr --json >out
equals "$(json row_lengths.longest_row)" 0
expect 0 csr-reorder square.csr band.csr --method rcm --json
[ "$(json bandwidth.after)" -lt "$(json bandwidth.before)" ] || fail "rcm did not narrow the band"
expect 0 csr-info band.csr --provenance
python3 -c '
import json
steps = json.load(open("out"))["steps"]
assert [step["tool"] for step in steps] == ["csr-import", "csr-reorder"], steps'
