# shellcheck shell=bash
# Standard streams that are closed or full: a report that did not arrive is exit code 4, errors keep theirs without a place
# to say them, and files are whole. Nothing is written beside them, with Python as most users have it.
unset PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
csr-bench tiny.csr -k 2 --repeat 1 --warmup 0 --records bundle.jsonl --quiet
report() { # report CODE "OPTIONS AND REDIRECTIONS"
  expect "$1" sh -c "exec csr-report $2"
}
for place in '>&-' '>/dev/full'; do
  for options in --help --version --list "bundle.jsonl --no-html --json"; do
    report 4 "$options $place"
    says "csr-report: error: standard output: "
    equals "$(wc -l <err)" 1
  done
  report 4 "bundle.jsonl --no-html --csv told.csv --force $place"
  report 0 "bundle.jsonl --no-html --csv quiet.csv --force --quiet $place"
  cmp told.csv quiet.csv
done
for place in '2>&-' '2>/dev/full' '<&- 2>&-'; do
  report 0 "bundle.jsonl --no-html --csv table.csv --force --verbose $place"
  cmp table.csv quiet.csv
  report 2 "bundle.jsonl --nonsense $place"
  report 3 "tiny.mtx --no-html --json $place"
  report 4 "absent.jsonl --no-html --json $place"
done
report 4 "bundle.jsonl --no-html --csv table.csv --force --verbose <&- >&- 2>&-"
cmp table.csv quiet.csv
installed=$(dirname "$(readlink -f "$(command -v csr-report)")")
no_file "$installed/report/__pycache__"
