# shellcheck shell=bash
# --verbose says in every tool what it runs on, and of products and solvers which kernel runs, and why;
# on stderr, so that a report stays what it is.
csr-generate poisson grid.csr --set nx=9 --value-kind f64 --quiet
csr-bench grid.csr -k 2 --repeat 1 --warmup 0 --records bundle.jsonl --quiet
cores=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

explains() { # explains COMMAND...
  expect 0 "$@" --verbose --json
  says "threads: "
  says " on cores $cores"
  case $1 in
    csr-report) ;;
    *)
      says "instructions of CPU kernels: "
      says "memory: "
      ;;
  esac
  python3 -c 'import json; [json.loads(line) for line in open("out")]'
  if grep -q 'debug: ' out; then fail "$1 --verbose writes to stdout"; fi
  expect 0 "$@" --quiet
  silent err
}
for tool in $(all_tools); do
  case $tool in
    *-gpu) continue ;; # they need a GPU
    csr-bench) explains csr-bench grid.csr -k 2 --repeat 1 --warmup 0 ;;
    csr-density) explains csr-density grid.csr ;;
    csr-export) explains csr-export grid.csr copy.mtx --force ;;
    csr-partition) explains csr-partition grid.csr ranked.csr --parts 2 --method blocks --force ;;
    csr-forecast) explains csr-forecast grid.csr ;;
    csr-generate) explains csr-generate rmat rmat.csr --set scale=5 --force ;;
    csr-import) explains csr-import "$DATASETS/karate.mtx" karate.csr --force ;;
    csr-info) explains csr-info grid.csr ;;
    csr-probe) # on a busy machine it measures nothing
      csr-probe --output profile.json --device cpu --max-table 1M --seconds 1 --max-spread 100000 -k 8 --verbose >out 2>err || says "too busy"
      says "threads: "
      ;;
    csr-reorder) explains csr-reorder grid.csr new.csr --method rcm --force ;;
    csr-report) explains csr-report bundle.jsonl --no-html --markdown page.md --force ;;
    *-dist) explains "$tool" grid.csr --repeat 1 --threads 1 ;;
    *) explains "$tool" grid.csr --repeat 1 --threads 1 --memory-limit 1G ;;
  esac
done

expect 0 csr-spmm-cpu grid.csr --repeat 1 --threads 2 --memory-limit 1G --verbose
says "threads: 2 on cores"
says ", limit 1G"
says "kernel: cpu.spmm.auto, which runs cpu.spmm."
says "because"
expect 0 csr-solve-cpu grid.csr --verbose
says "kernel: cpu.solve.cg"
expect 0 csr-bench grid.csr -k 2 --repeat 1 --kernels cpu.row_loop --verbose
says "kernel: cpu.spmm.row_loop"
