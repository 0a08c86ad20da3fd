# shellcheck shell=bash
# Too little address space is exit code 5 with a sentence, and no output, wherever it shows: before the
# records are read, in a library that loads, or in a matrix that is drawn.
csr-generate rmat graph.csr --set scale=17 --quiet
csr-bench graph.csr -k 2 --repeat 1 --warmup 0 --check=none --records bundle.jsonl --quiet
refused=0
limited() { # limited KIB: writes all outputs within so much address space
  local code=0
  (ulimit -v "$1" && exec csr-report bundle.jsonl --markdown made.md --csv made.csv -o made.html >out 2>err) || code=$?
  case $code in
    0) if [ ! -s made.md ] || [ ! -s made.csv ] || [ ! -s made.html ]; then fail "an output is missing at $1 KiB"; fi ;;
    5)
      refused=$((refused + 1))
      says "not enough memory"
      equals "$(wc -l <err)" 1
      silent out
      no_file made
      ;;
    *) cat err >&2; fail "exit code $code at $1 KiB" ;;
  esac
  rm -f made*
}
# Below that Python itself does not start, and cannot say anything in our words. Or it tries forever.
least=10000
until (ulimit -v $least && timeout 20 csr-report --version >/dev/null 2>&1); do least=$((least + 500)); done
# Memory lies elsewhere in every process: at the edge Python starts once and crashes the next time.
least=$((least + 1000))
for more in 0 200 400 700 1000 1500 2000 3000 4000 6000 8000 11000 14000 18000 23000 29000 36000 44000 53000 63000 75000 \
  90000 110000 140000 180000 250000; do
  limited $((least + more))
done
[ $refused -gt 0 ] || fail "no limit was too low"
refused=0
limited 4000000
equals $refused 0
