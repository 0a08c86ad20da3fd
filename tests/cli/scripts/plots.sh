# shellcheck shell=bash
# The pictures drawn from records: SVG files that name what they compare.
scripts=$CLI_FOLDER/../../run_scripts
records=$CLI_FOLDER/../data/records
python=$(python_with matplotlib.font_manager) || { echo "no Python with Matplotlib"; exit 6; }
expect 0 "$python" "$scripts/pages/plot_shapes.py" "$records/shapes.jsonl" shapes.svg
grep -q '<svg' shapes.svg || fail "no picture"
sed 's/}$/, "kernel": "v1"}/' "$records/shapes.jsonl" >by_kernel.jsonl
expect 0 "$python" "$scripts/pages/plot_shapes.py" by_kernel.jsonl by_kernel.svg --by kernel
grep -q 'v1: median ms' by_kernel.svg || fail "no map of v1"
echo '{"matrix": "a"}' >bad.jsonl
expect 1 "$python" "$scripts/pages/plot_shapes.py" bad.jsonl none.svg
grep -qF 'bad.jsonl:1: not a record' err || fail "it does not say which line"
no_file none.svg

csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-bench karate.csr -k 4,8 --repeat 2 --kernels cpu.auto,cpu.row_loop --records records.jsonl --quiet
plot() { "$python" "$scripts/pages/plot_speedup.py" "$@" --kernel cpu.spmm.auto --against cpu.spmm.row_loop; }
expect 0 plot records.jsonl speedup.svg --title "some title"
grep -q '<svg' speedup.svg || fail "no picture"
sed 's|"karate.csr"|"other/karate.csr"|g' records.jsonl >>records.jsonl.two
cat records.jsonl records.jsonl.two >both.jsonl
expect 1 plot both.jsonl none.svg
grep -qF 'would have the bar of' err || fail "it does not say which two"
no_file none.svg

# Time over the number of columns: what csr-bench and the study of choices recorded, the fastest of several records.
widths() { "$python" "$scripts/pages/plot_widths.py" "$@"; }
{ echo '{"matrix": "karate", "k": 4, "auto": 9}'; echo '{"matrix": "karate", "k": 4, "auto": 5}'
  echo '{"matrix": "karate", "k": 8, "auto": 7}'; } | gzip >gpu.jsonl.gz
expect 0 widths widths.svg "this machine=records.jsonl" H200=gpu.jsonl.gz --title "some title"
equals "$(grep -c '<title>karate</title>' widths.svg)" 2
grep -q 'H200, microseconds' widths.svg || fail "no second picture"
# 7 microseconds are the most, at the upper edge; 5 are two sevenths of the height below it.
grep -q 'd="M380.0 314.9 L690.0 272.0"' widths.svg || fail "$(grep '<path d="M3' widths.svg)"
expect 1 widths none.svg a=bad.jsonl
grep -qF 'bad.jsonl:1: not a record' err || fail "it does not say which line"
expect 2 widths none.svg records.jsonl
no_file none.svg
