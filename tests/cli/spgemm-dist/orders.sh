# shellcheck shell=bash
# C of ranks carries what csr-spgemm-cpu's does: the way back to the order of import, and A's history.
csr-generate rmat square.csr --set scale=8 --seed 3 --quiet
csr-reorder square.csr moved.csr --method rcm --quiet
csr-reorder square.csr rows.csr --method random --sides=rows --quiet
csr-reorder square.csr cols.csr --method random --sides=cols --quiet
csr-spgemm-cpu square.csr --output wanted.csr --repeat 1 --value-kind none --quiet
square() { expect 0 csr-spgemm-dist "$@" --output c.csr --force --ranks 3 --threads 1 --repeat 1 --value-kind none --quiet; }
for operands in moved.csr "rows.csr square.csr" "square.csr cols.csr" "rows.csr cols.csr"; do
  # shellcheck disable=SC2086
  square $operands
  silent err
  csr-reorder c.csr back.csr --undo --force --quiet
  same_matrix wanted.csr back.csr
  # shellcheck disable=SC2086
  csr-spgemm-cpu $operands --output one.csr --repeat 1 --value-kind none --force --quiet
  cmp <(csr-info c.csr --json | grep -o '"has_row_order.*') <(csr-info one.csr --json | grep -o '"has_row_order.*')
done
square moved.csr
expect 0 csr-info c.csr --provenance
python3 -c '
import json
steps = json.load(open("out"))["steps"]
assert [step["tool"] for step in steps] == ["csr-generate", "csr-reorder", "csr-spgemm-dist"], steps'
# Columns and rows that meet in different orders are told of, once.
expect 0 csr-spgemm-dist moved.csr square.csr --ranks 2 --repeat 1
says "columns of 'moved.csr' and rows of 'square.csr' are in different orders"
equals "$(grep -c "different orders" err)" 1
expect 0 csr-spgemm-dist rows.csr --ranks 2 --repeat 1
says "columns of 'rows.csr' and rows of 'rows.csr' are in different orders"
# A damaged order is refused: it would go into C.
python3 - <<'EOF'
data = bytearray(open("moved.csr", "rb").read())
slots = {bytes(data[128 + 32 * i:144 + 32 * i]).rstrip(b"\0"): 128 + 32 * i for i in range(16)}
at = int.from_bytes(data[slots[b"row_new_of_old"] + 16:slots[b"row_new_of_old"] + 24], "little")
data[at] ^= 1
open("damaged.csr", "wb").write(data)
EOF
expect 3 csr-spgemm-dist damaged.csr --ranks 2 --output damaged_c.csr
says "in section row_new_of_old"
no_file damaged_c.csr
