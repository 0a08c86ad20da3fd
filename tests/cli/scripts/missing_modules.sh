# shellcheck shell=bash
# A Python without NumPy or Matplotlib: one line that says what to install, no traceback.
scripts=$CLI_FOLDER/../../run_scripts
mkdir without
for module in numpy matplotlib; do
  echo "raise ImportError(\"No module named '$module'\")" >without/$module.py
done
missing() { # missing TEXT SCRIPT ARGUMENTS...: exit code 77 and a single line with TEXT
  local text=$1 script=$2
  shift 2
  expect 77 env PYTHONPATH=without python3 "$scripts/$script" "$@"
  equals "$(wc -l <err)" 1
  grep -qF -- "$(basename "$script"): $text" err || { cat err >&2; fail "stderr does not say '$text'"; }
  silent out
}
missing "NumPy is not installed" measure/spgemm_gpu_vs_cpu.py "$DATASETS/karate.mtx" --tools .
missing "Matplotlib is not installed" pages/plot_shapes.py records.jsonl out.svg

# A page needs neither: without NumPy it has no pictures of matrices, and says so.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-bench karate.csr -k 8 --kernels cpu.auto,cpu.row_loop --repeat 2 --records out.jsonl --quiet
expect 0 env PYTHONPATH=without python3 "$scripts/pages/plot_speedup.py" out.jsonl out.svg --kernel cpu.spmm.auto \
  --against cpu.spmm.row_loop --title "some title"
grep -q '<title>karate, K = 8: [0-9.]*</title>' out.svg || fail "no bar in the picture"
expect 1 env PYTHONPATH=without python3 "$scripts/pages/plot_speedup.py" out.jsonl none.svg --kernel a --against b
no_file none.svg
expect 0 env PYTHONPATH=without CSRKIT_REPORT_PYTHON=1 csr-report out.jsonl
says "install it (Debian: python3-numpy)"
[ -s report.html ] || fail "there is no page"
expect 0 env PYTHONPATH=without csr-report out.jsonl --no-html --markdown table.md
