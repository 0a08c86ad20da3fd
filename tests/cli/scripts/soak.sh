# shellcheck shell=bash
# soak.sh: its parts, one of them on the installed tools, and a record that says what was seen.
script=$CLI_FOLDER/../../run_scripts/measure/soak.sh
expect 0 "$script" --list
prints "R1.mtx"
prints "R8.allocations"
mkdir build
ln -s "$(dirname "$(command -v csr-info)")" build/tools
soak() { "$script" --build-dir "$PWD/build" --state "$PWD/state" --seconds 1 --record "$PWD/soak.jsonl" "$@"; }
expect 0 soak R16.conversions
expect 0 soak R1.mtx
python3 -c '
import json
first, second = map(json.loads, open("soak.jsonl"))
assert first["part"] == "R16.conversions" and first["verdict"] == "passed" and first["counts"]["round_trips"] > 0, first
assert first["commit"] and first["date"] and first["seconds"] > 0, first
assert second["verdict"] == "not run" and "fuzz_parsers" in second["reason"], second'
# A part that fails is the exit code.
mkdir broken
printf '#!/bin/sh\nexit 70\n' >broken/csr-generate
chmod +x broken/csr-generate
rm build/tools
ln -s "$PWD/broken" build/tools
expect 1 soak R18.output
says_so=$(tail -n 1 soak.jsonl)
case $says_so in *'"verdict": "failed"'*"code 70"*) ;; *) fail "$says_so" ;; esac
expect 2 soak no-such-part
says_why=$(cat err)
case $says_why in *"there is no part"*) ;; *) fail "$says_why" ;; esac
