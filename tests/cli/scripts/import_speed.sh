# shellcheck shell=bash
# The driver behind the table of import speed, dry.
bin=$(dirname "$(command -v csr-import)")
expect 0 "$CLI_FOLDER/../../run_scripts/measure/import_speed.py" --dry-run --tools "$bin" --work-dir texts
for kind in pattern integer real; do
  grep -qE "^$kind +csr-import, 1 thr\. +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+$" out || { cat out >&2; fail "no row for $kind"; }
done
no_file texts/*.mtx texts/*.csr # what it made is gone
