# shellcheck shell=bash
# A product that the judge finds wrong is exit code 1 with a sentence, and no output that was there before is touched.
csr-generate rmat graph.csr --set scale=8 --quiet
csr-partition graph.csr parts.csr --parts 2 --method blocks --quiet
library=$(dirname "$(command -v csr-spmm-cpu)")/../../libcsrkit_failing_judge.so
[ -f "$library" ] || fail "$library was not built"
judged() { # judged OUTPUT COMMAND...: its products are found wrong
  local output=$1 options
  shift
  for options in --check --check=full "--check --json"; do
    # shellcheck disable=SC2086 # words on purpose
    expect 1 env LD_PRELOAD="$library" "$@" --output "$output" $options
    says "the preloaded judge likes nothing"
    no_file "$output"
    echo kept >"$output"
    # shellcheck disable=SC2086
    expect 1 env LD_PRELOAD="$library" "$@" --output "$output" --force $options
    equals "$(cat "$output")" kept
    rm "$output"
    no_file "$output"
  done
  # Unasked, nobody judges.
  expect 0 env LD_PRELOAD="$library" "$@" --check=none --output "$output"
  rm "$output"
}
judged c.npy csr-spmm-cpu graph.csr -k 3 --repeat 1
judged c.npy csr-spmv-cpu graph.csr --repeat 1
judged c.csr csr-spgemm-cpu graph.csr --repeat 1
judged c.csr csr-sddmm-cpu graph.csr -k 3 --repeat 1
judged c.npy csr-sddmm-cpu graph.csr -k 3 --repeat 1
# In blocks, too, each of which is judged before it is written.
judged c.csr csr-spgemm-cpu graph.csr --repeat 1 --memory-limit 300K
expect 1 env LD_PRELOAD="$library" csr-spmm-dist parts.csr --ranks 2 -k 3 --repeat 1 --check --output c.npy
says "the product is wrong"
expect 1 env LD_PRELOAD="$library" csr-spgemm-dist parts.csr --ranks 2 --repeat 1 --check --output c.csr
says "the preloaded judge likes nothing"
no_file c.npy c.csr
# csr-bench records it, without times, and does not take it for done.
expect 1 env LD_PRELOAD="$library" csr-bench graph.csr -k 3 --repeat 1 --check --records r.jsonl --quiet
grep -q '"status":"check failed","reason":"row 0, column 0' r.jsonl || { cat r.jsonl >&2; fail "no reason"; }
expect 0 csr-bench graph.csr -k 3 --repeat 1 --check --records r.jsonl --resume --quiet
equals "$(wc -l <r.jsonl)" 2
