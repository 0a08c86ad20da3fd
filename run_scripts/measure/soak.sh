#!/usr/bin/env bash
# Attacks the tools for as long as you like: fuzzing of every parser, faults and kills at every system
# call, little memory, crowds, sizes beyond 2^31. One part for each promise of docs/reliability.md that
# takes longer than a test may. A part goes on where it ended last time, and each round of it appends one
# record, with date, commit, seconds, counts and verdict.
#
# Usage: soak.sh [PART...] [--minutes N] [--record FILE] [--build-dir DIR]
#        soak.sh --list
#        soak.sh --summary   writes the table of the records into docs/reliability.md
#   PART         one or more parts; none = all of them, one after another
#   --minutes    how long each part takes (default: 10); --seconds N for less
#   --hours N    round after round, until so much time has passed
#   --jobs N     mutants at once (default: 1)
#   --record     file that takes the records (default: docs/results/soak/soak.jsonl); - for none
#   --build-dir  a build with tests: cmake --preset release && cmake --build --preset release
#                (default: build/release)
#   --state DIR  what the parts remember, their findings included (default: DIR of the build/soak)
# Exit code 1 if a promise is broken: the record says how, the input is kept.
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/../messages.sh"
cd "$(dirname "$(realpath "$0")")/../.."

build_dir=build/release
record=docs/results/soak/soak.jsonl
words=()
while (($#)); do
  case $1 in
    --list | --summary) words+=("$1"); shift ;;
    --minutes | --seconds | --hours | --jobs | --state) needs_value "$@"; words+=("$1" "$2"); shift 2 ;;
    --record) needs_value "$@"; record=$2; shift 2 ;;
    --build-dir) needs_value "$@"; build_dir=$2; shift 2 ;;
    -*) unknown "$1" ;;
    *) words+=("$1"); shift ;;
  esac
done
if [[ $record != - ]]; then
  mkdir -p "$(dirname "$record")"
  words+=(--record "$record")
fi
exec python3 tests/soak/soak.py --build "$build_dir" "${words[@]}"
