#!/usr/bin/env bash
# Makes one page, one table in Markdown and one CSV file of cases from all bundles of a results folder. If cases of
# the plan of submit.sh are missing, the page begins with them, and the exit code is 1.
#
# Usage: report.sh --results DIR [--cache DIR] [--title TEXT] [--no-pictures] [--print] [--tools DIR]
#   --cache DIR   where prepare.sh wrote the reports of the orders, for the break-even
#   --print       also print the table
set -euo pipefail
# shellcheck source=run_scripts/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck disable=SC2034 # options are set and read by name
cache='' results='' title='Sparse products, measured' tools='' pictures=() prints=no
while (($#)); do
  case $1 in
    --cache | --results | --title | --tools)
      needs_value "$@"
      printf -v "${1#--}" %s "$2"
      shift 2
      ;;
    --no-pictures) pictures=(--no-pictures); shift ;;
    --print) prints=yes; shift ;;
    *) unknown "$1" ;;
  esac
done
[[ -n $results ]] || die 2 "needs --results DIR; --help shows the options"
find_tools
shopt -s nullglob
inputs=("$results"/*.jsonl)
inputs+=("$results"/jobs/plan.json[l] "$results"/jobs/*.problem "$results"/jobs/*.probe.json)
((${#inputs[@]})) || die 3 "$results holds neither a bundle nor a plan; run.sh and submit.sh make them"
if [[ -n $cache ]]; then inputs+=("$cache"/*.*.json "$cache"/*.problem); fi
code=0
csr-report "${inputs[@]}" --force -o "$results/report.html" --markdown "$results/table.md" --csv "$results/cases.csv" --title "$title" "${pictures[@]}" || code=$?
# After an error there is no table, or that of an earlier report.
if [[ $prints == yes ]] && ((code <= 1)); then cat "$results/table.md"; fi
exit "$code"
