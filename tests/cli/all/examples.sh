# shellcheck shell=bash
# Every example of every --help runs as it stands there.
tiny_mtx >tiny.mtx
printf '1 2\n2 3\n3 1\n' >edges.txt
seq 4 | awk '{ print ($1 > 2) }' >parts.txt
csr-import tiny.mtx tiny.csr --quiet
csr-generate rmat graph.csr --set scale=8 --quiet
csr-generate poisson stencil.csr --set nx=20 --set ny=20 --value-kind f64 --quiet
csr-spmm-cpu tiny.csr -k 2 --output b.npy --quiet
csr-spmv-cpu stencil.csr --output x.npy --quiet
count=0 is_too_busy=''
for tool in $(all_tools); do
  case $tool in *-gpu) continue ;; esac # they need a GPU
  while read -r line; do
    case $line in *--device\ gpu*) continue ;; esac # so do these, several
    # What csr-probe did not write nobody can read.
    case $line in *quick.json*) [ -z "$is_too_busy" ] || continue ;; esac
    # Tuning races production kernels, and csr-spmv-cpu has rungs alone.
    case $line in csr-spmv-cpu*--tune*) continue ;; esac
    code=0
    eval "$line" >out 2>err || code=$?
    # Several write files of the same names.
    if grep -qF -- '--force replaces it' err; then code=0 && { eval "$line --force" >out 2>err || code=$?; }; fi
    # On a busy machine a time may truly be another one.
    case $line in *csr-bench*--verify*) if [ "$code" -eq 1 ]; then code=0; fi ;; esac
    # Nor does csr-probe write what varies too much to be believed.
    case $line in csr-probe*) if [ "$code" -eq 1 ] && grep -q 'too busy' err; then code=0 is_too_busy=yes; fi ;; esac
    [ "$code" -eq 0 ] || { cat err >&2; fail "the example of $tool: $line"; }
    count=$((count + 1))
  done < <("$tool" --help | sed -n "s/^  \\($tool .*\\)/\\1/p")
done
[ "$count" -ge 18 ] || fail "only $count examples were found"
