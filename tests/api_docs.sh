#!/usr/bin/env bash
# Builds the API pages and fails on comments that Doxygen cannot read, and on public functions of the contract
# without a comment. Usage: api_docs.sh OUTPUT_FOLDER. Exit code 77: Doxygen is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1:?api_docs.sh needs a folder for the pages}
command -v doxygen >/dev/null || { echo "skipped: doxygen is not installed"; exit 77; }
mkdir -p "$output"
(cat docs/Doxyfile && echo "OUTPUT_DIRECTORY=\"$output\"") | doxygen - 2>"$output/warnings.txt"

# What these return, their names say.
plain='output_rows|output_cols|input_rows|shape|can|forecast|phases|named|empty_sum|product|add'
faults=$(grep -v 'is not documented' "$output/warnings.txt" || true)
faults+=$(grep -E '/core/contract/.*Member [^ ]+\(.*\(function\).* is not documented' "$output/warnings.txt" |
  grep -vE "Member ($plain)\(" || true)
if [[ -n $faults ]]; then
  echo "$faults" >&2
  exit 1
fi
echo "api_docs: $output/html/index.html"
