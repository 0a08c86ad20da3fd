# shellcheck shell=bash
# The driver behind the SpMV figures of a CPU, dry: two small matrices, few repetitions.
mkdir matrices
csr-import "$DATASETS/karate.mtx" matrices/karate.csr --quiet
csr-generate poisson matrices/grid.csr --set nx=9 --quiet
script=$CLI_FOLDER/../../run_scripts/measure/spmv_cpu.sh
tools=$(dirname "$(command -v csr-bench)")
expect 0 "$script" --matrices matrices --out records --tools "$tools" --threads 1,2 --value-kind f64 --repeat 2 \
  --max-seconds 0.05
prints "== 2 threads"
lines=$(cat records/*.jsonl | wc -l)
expect 0 "$script" --matrices matrices --out records --tools "$tools" --threads 1,2 --value-kind f64 --repeat 2 \
  --max-seconds 0.05
equals "$(cat records/*.jsonl | wc -l)" "$lines"
expect 2 "$script"
grep -qF "needs --matrices DIR" err || fail "not a word of what is missing"
mkdir empty
expect 2 "$script" --matrices empty
grep -qF "no .csr file in empty" err || fail "not a word of the empty folder"
