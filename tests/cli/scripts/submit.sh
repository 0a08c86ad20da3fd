# shellcheck shell=bash
# The whole way without Slurm: prepare.sh, run.sh, report.sh; a second time nothing is left to do.
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
equals "$(grep 'is in the records already' err | sort -u | wc -l | tr -d ' ')" 8
prints '| karate | rcm |' # the table, once more
equals "$(cat results/*.jsonl | wc -l | tr -d ' ')" 8
# Stand-ins, the largest first and two at a time; time that is up leaves a report and work to do.
like() {
  "$scripts/submit.sh" --local --like --scale 0.002 --cache like --results liked --no-pictures -k 4 --at-once 2 "$@"
}
expect 143 like --within 2 ddi yelp -- --repeat 100000
grep -q 'the same command does the rest' err || fail "it does not say that something is left"
expect 0 like --within 60 ddi yelp -- --repeat 2
prints '| ddi (stand-in, 0.2 % of its size) |'
prints '| yelp (stand-in, 0.2 % of its size) |'
no_file like/*.tmp
expect 2 like --within soon ddi
expect 2 like --at-once 0 ddi
