# shellcheck shell=bash
# Every example of every --help runs as it stands there.
tiny_mtx >tiny.mtx
printf '1 2\n2 3\n3 1\n' >edges.txt
csr-import tiny.mtx tiny.csr --quiet
csr-generate rmat graph.csr --set scale=8 --quiet
count=0
for tool in $(all_tools); do
  if [ "$tool" = csr-spmm-gpu ]; then continue; fi # see spmm-gpu/examples
  while read -r line; do
    eval "$line" >out 2>err || { cat err >&2; fail "the example of $tool: $line"; }
    count=$((count + 1))
  done < <("$tool" --help | sed -n "s/^  \\($tool .*\\)/\\1/p")
done
[ "$count" -ge 18 ] || fail "only $count examples were found"
