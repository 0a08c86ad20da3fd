#!/usr/bin/env bash
# One page, one table in Markdown and one file of cases from all bundles of a results folder. Where
# submit.sh kept a plan, the page begins with what is missing of it, and the exit code is 1.
#
# Usage: report.sh --results DIR [--cache DIR] [--title TEXT] [--no-pictures] [--print] [--tools DIR]
#   --cache DIR   where prepare.sh left the reports of the orders; for the break-even
#   --print       the table on stdout, too
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
((${#inputs[@]})) || die 3 "$results holds no bundle and no plan; run.sh and submit.sh make them"
if [[ -n $cache ]]; then inputs+=("$cache"/*.*.json "$cache"/*.problem); fi
code=0
csr-report "${inputs[@]}" --force -o "$results/report.html" --markdown "$results/table.md" --csv "$results/cases.csv" --title "$title" "${pictures[@]}" || code=$?
if [[ $prints == yes ]]; then cat "$results/table.md"; fi
exit "$code"
