# shellcheck shell=bash
# The whole way without Slurm: prepare, run, report; a second time nothing is left to do.
scripts=$CLI_FOLDER/../../run_scripts
export OMP_WAIT_POLICY=passive
all() {
  "$scripts/submit.sh" --local --cache cache --results results --orders rcm --no-pictures -k 4 "$@" -- --repeat 2
}
expect 2 all karate no_such_dataset lp_afiro # one that fails leaves the others alone
grep -q "'no_such_dataset' is not in" err || fail "the unknown data set is not named"
grep -q '| karate | rcm |' results/table.md || fail "the table lacks an order"
grep -q '| lp_afiro | natural |' results/table.md || fail "the table lacks a data set"
expect 0 all karate lp_afiro
equals "$(grep -c 'is in the records already' err)" 8
equals "$(cat results/*.jsonl | wc -l | tr -d ' ')" 8
