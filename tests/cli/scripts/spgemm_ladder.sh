# shellcheck shell=bash disable=SC2016 # Markdown's backquotes
# The script behind SpGEMM's ladder, dry: the CPU's tool stands in for every rung of the GPU's.
script=$CLI_FOLDER/../../run_scripts/measure/spgemm_ladder.py
bin=$(dirname "$(command -v csr-spgemm-cpu)")
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
mkdir tools
ln -s "$bin/csr-spgemm-cpu" tools/csr-spgemm-cpu
cat >tools/csr-spgemm-gpu <<END
#!/usr/bin/env bash
[[ " \$* " != *"--kernel \${FAILS:-none} "* ]] || { echo 'csr-spgemm-gpu: error: no' >&2; exit 5; }
exec '$bin/csr-spgemm-cpu' "\${@:1:\$#-2}" # the last two are --kernel and its name
END
chmod +x tools/csr-spgemm-gpu
expect 0 "$script" karate.csr --tools tools --records rungs.jsonl --repeat 2
grep -q '^| kernel | karate ms |' out || fail "no table"
grep -qE '^\| `gpu\.spgemm\.v0_thread_per_row` \| [0-9.]+ \| [0-9.]* \|  \|$' out || fail "the first rung has a gain"
grep -qE '^\| `gpu\.spgemm\.auto` \| [0-9.]+ \| [0-9.]* \| [0-9.]+ \|$' out || fail "auto has no gain over the rung before"
grep -qE '^\| `cpu\.spgemm\.auto, 1 thread` ' out || fail "the CPU is missing"
equals "$(wc -l <rungs.jsonl | tr -d ' ')" "$(($(wc -l <out) - 2))"
FAILS=vendor_cusparse expect 1 "$script" karate.csr --tools tools --records rungs.jsonl --repeat 2
prints "| \`gpu.spgemm.vendor_cusparse\` | failed |"
grep -qF 'exit code 5: csr-spgemm-gpu: error: no' err || fail "it does not say why"
