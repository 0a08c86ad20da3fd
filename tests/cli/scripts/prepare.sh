# shellcheck shell=bash
# Sixteen at once end with one good file; what is complete stays, what is damaged is made again.
scripts=$CLI_FOLDER/../../run_scripts
pids=()
for i in $(seq 16); do
  "$scripts/prepare.sh" --cache cache --orders degree karate >"log.$i" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || { cat log.*; fail "a concurrent prepare failed"; }; done
equals "$(grep -l 'karate: made' log.* | wc -l)" 1
equals "$(grep -l 'karate: complete' log.* | wc -l)" 15
no_file cache/karate.csr.tmp cache/karate.degree.json.tmp
csr-info cache/karate.csr --verify --quiet

made=$(stat -c %Y.%i cache/karate.csr)
expect 0 "$scripts/prepare.sh" --cache cache --orders degree karate
equals "$(stat -c %Y.%i cache/karate.csr)" "$made"
# A flipped byte, a lost record of how it was made, another input: made again.
printf '\377' | dd of=cache/karate.csr bs=1 seek=5000 conv=notrunc status=none
expect 0 "$scripts/prepare.sh" --cache cache karate
grep -q 'karate: made' err || fail "a damaged file was kept"
rm cache/karate.csr.made
expect 0 "$scripts/prepare.sh" --cache cache karate
grep -q 'karate: made' err || fail "a file of unknown origin was kept"
expect 0 "$scripts/prepare.sh" --cache cache --like --scale 0.01 com_amazon
expect 0 "$scripts/prepare.sh" --cache cache --like --scale 0.02 com_amazon
grep -q 'com_amazon: made' err || fail "a stand-in of another size was kept"
expect 0 "$scripts/prepare.sh" --cache cache --like --scale 0.02 com_amazon
grep -q 'com_amazon: complete' err || fail "a stand-in was made twice"
# A cache that is made again elsewhere, at another time, has the same bytes: what was measured stays known.
anew() { env -u SOURCE_DATE_EPOCH "$scripts/prepare.sh" --cache "$1" --like --scale 0.02 --orders degree,community com_amazon; }
expect 0 anew first
csr-bench first/com_amazon.csr first/com_amazon.community.csr -k 4 --repeat 2 --records r.jsonl --quiet
sleep 1.1
expect 0 anew second/place
for file in com_amazon.csr com_amazon.degree.csr com_amazon.community.csr; do
  cmp "first/$file" "second/place/$file" || fail "$file has other bytes when it is made again"
done
expect 0 csr-bench second/place/com_amazon.csr second/place/com_amazon.community.csr -k 4 --repeat 2 --records r.jsonl --resume --quiet
equals "$(wc -l <r.jsonl)" 2
# What the orders cost is in their reports.
python3 -c 'import json; assert json.load(open("first/com_amazon.community.json"))["order_seconds"] > 0'

expect 2 "$scripts/prepare.sh" karate
expect 2 "$scripts/prepare.sh" --cache cache
expect 2 "$scripts/prepare.sh" --cache cache --no-such-option karate
expect 2 "$scripts/prepare.sh" --cache cache no_such_dataset karate
expect 2 "$scripts/prepare.sh" --cache cache reddit
says_script() { grep -qF -- "$1" err || { cat err >&2; fail "stderr does not say '$1'"; }; }
says_script "--like for a stand-in"
expect 3 "$scripts/prepare.sh" --cache cache --raw nowhere reddit
says_script "fetch.sh"
grep -q '"mend":".*fetch.sh --to nowhere reddit' cache/reddit.problem || fail "the problem is not noted"
# An order that METIS refuses, one that takes too long: noted, and the rest goes on. What works later is noted no more.
expect 0 "$scripts/prepare.sh" --cache cache --orders metis-partition,degree lp_afiro
says_script "warning: lp_afiro.metis-partition: left out"
grep -q '"order":"metis-partition"' cache/lp_afiro.metis-partition.problem || fail "the failed order is not noted"
[ -f cache/lp_afiro.degree.csr ] || fail "the order after the failed one was not made"
mkdir slow
printf '#!/bin/sh\nexec sleep 100\n' >slow/csr-reorder
chmod +x slow/csr-reorder
expect 0 env PATH="$PWD/slow:$PATH" "$scripts/prepare.sh" --cache cache --orders rcm --order-time 0.1 karate
grep -q 'it took longer than' cache/karate.rcm.problem || fail "the late order is not noted"
expect 0 "$scripts/prepare.sh" --cache cache --orders rcm karate
no_file cache/karate.rcm.problem
