# shellcheck shell=bash
# The pictures drawn from records: SVG files that name what they compare.
scripts=$CLI_FOLDER/../../run_scripts
records=$CLI_FOLDER/../data/records
python=$(python_with matplotlib) || { echo "no Python with Matplotlib"; exit 6; }
expect 0 "$python" "$scripts/plot_shapes.py" "$records/shapes.jsonl" shapes.svg
grep -q '<svg' shapes.svg || fail "no picture"
sed 's/}$/, "kernel": "v1"}/' "$records/shapes.jsonl" >by_kernel.jsonl
expect 0 "$python" "$scripts/plot_shapes.py" by_kernel.jsonl by_kernel.svg --by kernel
grep -q 'v1: median ms' by_kernel.svg || fail "no map of v1"
echo '{"matrix": "a"}' >bad.jsonl
expect 1 "$python" "$scripts/plot_shapes.py" bad.jsonl none.svg
grep -qF 'bad.jsonl:1: not a record' err || fail "it does not say which line"
no_file none.svg

csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-bench karate.csr -k 4,8 --repeat 2 --kernels cpu.auto,cpu.row_loop --records records.jsonl --quiet
plot() { "$python" "$scripts/plot_speedup.py" "$@" --kernel cpu.spmm.auto --against cpu.spmm.row_loop; }
expect 0 plot records.jsonl speedup.svg --title "some title"
grep -q '<svg' speedup.svg || fail "no picture"
sed 's|"karate.csr"|"other/karate.csr"|g' records.jsonl >>records.jsonl.two
cat records.jsonl records.jsonl.two >both.jsonl
expect 1 plot both.jsonl none.svg
grep -qF 'would have the bar of' err || fail "it does not say which two"
no_file none.svg
