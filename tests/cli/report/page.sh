# shellcheck shell=bash
# One page of all there is: every section, nothing that asks a network, no error in a real browser.
has_matplotlib || { echo "skipped: Matplotlib is not installed"; exit 6; }
csr-generate rmat graph.csr --set scale=8 --quiet
for order in degree rcm; do
  csr-reorder graph.csr "graph.$order.csr" --method "$order" --json >>orders.jsonl
done
csr-bench graph.csr graph.degree.csr graph.rcm.csr -k 4,8 --repeat 3 --records bundle.jsonl --quiet \
  --kernels cpu.auto,cpu.row_loop,cpu.reference
for block in 64 128; do
  for tile in 4 8; do echo '{"matrix":"graph","block":'$block',"tile":'$tile',"seconds":[0.00'$tile',0.002]}'; done
done >search.jsonl
# A study of schedules, as run_scripts/schedule_study.py records it.
for run in '"naive","schedule":null,"chunk":0,"gflops":1' '"unrolled_8","schedule":"static","chunk":0,"gflops":3' \
  '"unrolled_8","schedule":"dynamic","chunk":64,"gflops":6'; do
  echo '{"matrix":"graph","dense_cols":32,"threads":2,"kernel":"cpu.spmm.'"${run#?}"'}'
done >schedules.jsonl
# The story of a ladder needs rungs; the records are as a GPU's would be.
sed 's/cpu[.]spmm[.]reference/cpu.spmm.v0_first_idea/' bundle.jsonl >rungs.jsonl

expect 0 csr-report bundle.jsonl rungs.jsonl orders.jsonl search.jsonl schedules.jsonl -o page.html --markdown page.md --csv page.csv \
  --title 'A <report> & more'
silent err
prints "3 matrices"
for section in table speed-up rate roofline ladder reordering row-lengths spy-plots schedules heat-maps machines; do
  grep -q "<h2 id=\"$section\">" page.html || fail "the page has no section $section"
done
grep -q 'A &lt;report&gt; &amp; more' page.html || fail "the title is not escaped"
if grep -oE '(src|href)="[^"]{0,20}' page.html | grep -vE '="(data:|#)'; then fail "the page asks for files"; fi
if grep -qE '@import|url\(|<script' page.html; then fail "the page loads or runs something"; fi
equals "$(wc -l <page.csv)" "$(($(wc -l <bundle.jsonl) * 4 / 3 + 1))"
grep -q '| graph | rcm |' page.md || fail "the Markdown lacks an order"
grep -q '| graph | 32 | 2 | unrolled_8 | dynamic 64 | 6.0 | static | 50 | 6.00 |' page.md || fail "the Markdown lacks a schedule"
no_file page.html.tmp page.md.tmp
# The same input, the same bytes.
expect 0 csr-report search.jsonl -o one.html --quiet --figures figures
silent out
expect 0 csr-report search.jsonl -o two.html --quiet --figures figures
cmp one.html two.html
for figure in figures/heat-maps.png figures/heat-maps.svg; do [ -s "$figure" ] || fail "there is no $figure"; done

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -n "$browser" ]; then
  timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --enable-logging=stderr \
    --window-size=1280,3000 --screenshot=page.png "file://$PWD/page.html" >browser.out 2>browser.err ||
    { cat browser.err >&2; fail "the browser failed"; }
  if grep -E 'CONSOLE' browser.err; then fail "the browser has something to say about the page"; fi
  [ -s page.png ] || fail "there is no screenshot"
fi
