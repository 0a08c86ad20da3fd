# shellcheck shell=bash
# One page of all there is: every section, nothing that asks a network, no error in a real browser.
python_with numpy >/dev/null || { echo "skipped: NumPy is not installed"; exit 6; }
csr-generate rmat graph.csr --set scale=8 --quiet
for order in degree rcm; do
  csr-reorder --force graph.csr "graph.$order.csr" --method "$order" --json >>orders.jsonl
done
csr-bench graph.csr graph.degree.csr graph.rcm.csr -k 4,8 --repeat 3 --records bundle.jsonl --quiet \
  --kernels cpu.auto,cpu.row_loop,cpu.reference
for block in 64 128; do
  for tile in 4 8; do echo '{"matrix":"graph","block":'$block',"tile":'$tile',"seconds":[0.00'$tile',0.002]}'; done
done >search.jsonl
# A study of schedules, as run_scripts/measure/schedule_study.py records it.
for run in '"naive","schedule":null,"chunk":0,"gflops":1' '"unrolled_8","schedule":"static","chunk":0,"gflops":3' \
  '"unrolled_8","schedule":"dynamic","chunk":64,"gflops":6'; do
  echo '{"matrix":"graph","dense_cols":32,"threads":2,"kernel":"cpu.spmm.'"${run#?}"'}'
done >schedules.jsonl
# The story of a ladder needs rungs; the records are as a GPU's would be.
sed 's/cpu[.]spmm[.]reference/cpu.spmm.v0_first_idea/' bundle.jsonl >rungs.jsonl

expect 0 csr-report bundle.jsonl rungs.jsonl orders.jsonl search.jsonl schedules.jsonl -o page.html --markdown page.md --csv page.csv \
  --title 'A <report> & more'
silent err
prints "1 matrix"
grep -q 'id="figure-overview"' page.html || fail "the page has no overview"
for section in table rate roofline ladder reordering row-lengths spy-plots schedules heat-maps machines; do
  grep -q "<h2 id=\"$section\">" page.html || fail "the page has no section $section"
done
grep -q 'A &lt;report&gt; &amp; more' page.html || fail "the title is not escaped"
if grep -oE '(src|href)="[^"]{0,20}' page.html | grep -vE '="(data:|#)'; then fail "the page asks for files"; fi
if grep -qE '@import|url\(|<script [^>]|XMLHttp|fetch\(' page.html; then fail "the page loads something"; fi
equals "$(wc -l <page.csv)" "$(($(wc -l <bundle.jsonl) * 4 / 3 + 1))"
grep -q '| graph | rcm |' page.md || fail "the Markdown lacks an order"
grep -q '| graph | 32 | 2 | unrolled_8 | dynamic 64 | 6.00 | static | 50 | 6.00 |' page.md || fail "the Markdown lacks a schedule"
no_file page.html.tmp page.md.tmp
# The same input, the same bytes.
expect 0 csr-report search.jsonl -o one.html --quiet --figures figures
silent out
expect 0 csr-report search.jsonl -o two.html --quiet --figures figures --force
cmp one.html two.html
for figure in figures/heat-map-*.svg; do python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "$figure"; done

# Of a plan, what is missing comes first, and the exit code says that something is.
echo '{"plan":1,"command":"submit.sh again","datasets":["graph","reddit"],"orders":["natural"],"kernels":["cpu.auto"],"dense_cols":[4]}' >plan.jsonl
echo '{"problem":1,"dataset":"reddit","order":"natural","reason":"it is not there","mend":"fetch.sh reddit"}' >reddit.problem
expect 1 csr-report bundle.jsonl plan.jsonl reddit.problem orders.jsonl -o missing.html
prints "1 of 2 cases, 1 data set incomplete"
prints "mend: fetch.sh reddit"
grep -q '<h2>1 of 2 cases, 1 data set incomplete</h2>' missing.html || fail "the page does not begin with what is missing"

# As readers see it: three widths, light and dark. The checker must find what is wrong, too.
if ! command -v chromium chromium-browser google-chrome >/dev/null; then
  echo "skipped: no Chromium, so nobody looked at the page"
  exit 6
fi
for page in page missing; do expect 0 timeout 120 "$CLI_FOLDER/browser.py" $page.html; done
sed 's|</main>|<p style="white-space:nowrap">'"$(printf 'wide %.0s' $(seq 99))"'</p><script>console.log(1)</script></main>|' page.html >bad.html
expect 1 timeout 120 "$CLI_FOLDER/browser.py" bad.html
grep -q 'scrolls sideways' err || fail "the checker does not see text that scrolls sideways"
grep -q 'says on the console' err || fail "the checker does not hear the console"
