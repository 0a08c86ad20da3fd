# shellcheck shell=bash
# What csr-report says without a page, and what it refuses.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
csr-bench tiny.csr -k 2 --repeat 2 --kernels cpu.auto,cpu.row_loop --records bundle.jsonl --quiet
expect 0 csr-report bundle.jsonl --no-html --markdown table.md
prints "K 2: "
grep -q 'own cpu.spmm.row.*loop (a baseline)' table.md || fail "row_loop is not the baseline"
expect 0 csr-report bundle.jsonl --no-html --json --against cpu.spmm.auto --kernel cpu.spmm.row_loop
equals "$(json kernel)" cpu.spmm.row_loop
equals "$(json rows.0.matrix)" tiny
# Without a vendor or another kernel of the same operation there is no comparison.
csr-bench tiny.csr -k 1 --repeat 2 --kernels cpu.auto,cpu.spmv.auto,cpu.spgemm.auto --records mixed.jsonl --quiet
expect 0 csr-report mixed.jsonl --no-html --json
equals "$(json kernel)" cpu.spmm.auto
equals "$(json against)" ""
expect 0 csr-report mixed.jsonl --no-html --json --against cpu.spmv.auto
equals "$(json against)" cpu.spmv.auto

expect 2 csr-report bundle.jsonl --no-html --figures table.md --force
says "--figures is 'table.md', which is no folder"

# A later record of a case replaces the earlier one, a failed one is named, a cut one is left out.
python3 - <<'EOF'
import json
lines = open("bundle.jsonl").read().splitlines()
record = json.loads(lines[0])
record["median_seconds"] = 1000
failed = json.loads(lines[1])
failed.update(status="failed", reason="a reason")
open("more.jsonl", "w").write("\n".join([*lines, json.dumps(record), json.dumps(failed), lines[0][:40]]))
EOF
expect 0 csr-report more.jsonl --no-html --json
equals "$(json cases)" 1
equals "$(json failures)" 1
equals "$(json 'rows.0.our_seconds')" 1000
says "more.jsonl:5: the last line was cut short"
# A last line that is not the beginning of an object was never one of ours.
{
  cat bundle.jsonl
  printf 'my notes'
} >notes.jsonl
expect 3 csr-report notes.jsonl --no-html --json
says "notes.jsonl:3:"

expect 2 csr-report bundle.jsonl --kernel gpu.spmm.auto
says "There are cpu.spmm.auto"
expect 2 csr-report bundle.jsonl --no-html
expect 2 csr-report bundle.jsonl --no-html --output a.html
expect 2 csr-report bundle.jsonl --markdown bundle.jsonl
says "would be lost"
expect 2 csr-report bundle.jsonl --markdown same --csv ./same
# A name that ends as another kind of file does would lie; other names are taken as they are.
expect 2 csr-report bundle.jsonl -o page.pdf
says "the output 'page.pdf' would not be what its name says, but a .html or .htm file; name it so (csr-report writes pages"
expect 2 csr-report bundle.jsonl --output=page.PDF
expect 2 csr-report bundle.jsonl -o page.md
expect 2 csr-report bundle.jsonl -o bundle.jsonl.gz
expect 2 csr-report bundle.jsonl --no-html --markdown table.docx
says "but a .md, .markdown or .txt file"
expect 2 csr-report bundle.jsonl --no-html --csv table.xlsx
says "but a .csv file"
no_file page bundle.jsonl.gz table.docx table.xlsx
expect 0 csr-report bundle.jsonl -o PAGE.HTM --markdown README --csv cases.of.today --quiet
gzip -k bundle.jsonl
reads_no_gzip() { # reads_no_gzip COMMAND...
  expect 3 "$@" bundle.jsonl.gz
  says "bundle.jsonl.gz:1: "
  says "expected JSON, found a gzip file (gzip -dk unpacks it); name "
}
reads_no_gzip csr-report --no-html --json
reads_no_gzip csr-bench --verify
expect 3 csr-report tiny.mtx --no-html --markdown a.md
says "tiny.mtx:1:"
echo '{"something": "else"}' >else.json
expect 3 csr-report else.json --no-html --markdown a.md
echo '3' >number.json
expect 3 csr-report number.json --no-html --markdown a.md
: >empty.jsonl
expect 3 csr-report empty.jsonl --no-html --markdown a.md
expect 4 csr-report absent.jsonl --no-html --markdown a.md
expect 4 csr-report bundle.jsonl --no-html --markdown no/such/folder/a.md
no_file a.md same a.html
