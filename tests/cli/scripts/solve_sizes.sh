# shellcheck shell=bash
# Time per iteration over sizes, for both kinds of systems: records, two pictures, nothing measured twice.
python=$(python_with matplotlib.font_manager) || { echo "no Python with Matplotlib"; exit 6; }
script=$CLI_FOLDER/../../run_scripts/measure/solve_sizes.py
tools=$(dirname "$(command -v csr-solve-cpu)")
for system in dense grid; do
  measure() {
    "$python" "$script" --out $system --tools "$tools" --system $system --sizes 16,32 --threads 2 --iterations 5 \
      --repeat 1 "$@"
  }
  expect 0 measure --without-gpu
  equals "$(wc -l <$system/records.jsonl)" 4
  grep -q '<svg' $system/times.svg || fail "no picture of times"
  grep -q '<svg' $system/speedup.svg || fail "no picture of speed-ups"
  cp $system/records.jsonl before
  expect 0 measure --without-gpu
  cmp before $system/records.jsonl
done
expect 1 "$python" "$script" --out broken --tools /nowhere --sizes 16 --without-gpu
# A GPU's line, made up: it pays from 32 rows on, with its transfers nowhere.
for rows in 16 32; do
  echo "{\"system\": \"dense\", \"rows\": $rows, \"who\": \"GPU\", \"precision\": \"f32\", \"iterations\": 5," \
    "\"iteration_seconds\": $((rows < 32 ? 9 : 0)).000001, \"whole_seconds\": 1}" >>dense/records.jsonl
done
system=dense
expect 0 measure
prints "iterations alone: the GPU pays from 32 rows on"
prints "transfers: the GPU pays at none of these sizes"
