# shellcheck shell=bash
# Pages made of data and of records, in a copy. (lint.results_pages checks the pages of this repository.)
root=$CLI_FOLDER/../..
mkdir -p copy/docs/results/here/data
cp -r "$root/run_scripts" copy/
cp "$root/docs/results/summary.tsv" copy/docs/results/
pages=copy/run_scripts/pages/results_pages.py
page=copy/docs/results/here/page.md
printf '# machine: one\n# date: 2026-01-02\n# published: abc\n# note: a note\n' >copy/docs/results/here/data/small.tsv
printf 'matrix\tK\tours ms\ttheirs ms\na\t8\t1.0\t2.0\nb\t8\t2.0\t1.0\nb\t16\t1\t-\n' >>copy/docs/results/here/data/small.tsv
cat >copy/README.md <<'END'
before
<!-- table here/small | where K=8, matrix=a or b | columns matrix; ours ms; theirs ms | best ours ms..theirs ms -->
old
<!-- end -->
<!-- mean here/small | of theirs ms / ours ms | by K -->
<!-- end -->
after
END
expect 1 "$pages" --check
prints "-old"
expect 0 "$pages"
equals "$(cat out)" README.md
has() { grep -qxF -- "$1" "${2:-copy/README.md}" || { cat "${2:-copy/README.md}" >&2; fail "no line '$1'"; }; }
has '| a | 1.0 | **2.0** |'
has '| b | **2.0** | 1.0 |'
has '*one; 2026-01-02, published with abc; [small.tsv](docs/results/here/data/small.tsv); a note.*'
has '| 8 | 2 | 1.00 | 0.50 | b | 1 / 0 / 1 |'
equals "$(head -1 copy/README.md) $(tail -1 copy/README.md) $(grep -c old copy/README.md)" "before after 0"
expect 0 "$pages" --check
silent out

# A cell that changes makes the page stale; a broken mark, data or option names the page or the file.
sed -i 's/1.0\t2.0/1.0\t3.0/' copy/docs/results/here/data/small.tsv
expect 1 "$pages" --check
grep -qF "1 pages differ from their data" err || fail "it does not say how many"
refused() { # refused MARK TEXT
  printf '%s\n<!-- end -->\n' "$1" >"$page"
  expect 1 "$pages" "$page"
  grep -qF -- "$2" err || { cat err >&2; fail "stderr does not say '$2'"; }
}
mkdir copy/docs/pictures
printf '<!-- picture here/small | of theirs ms / ours ms | by K | file docs/pictures/a.svg | title A & b -->\n<!-- end -->\n' >"$page"
expect 1 "$pages" --check "$page"
expect 0 "$pages" "$page"
has '![A & b (2026-01-02)](../../pictures/a.svg)' "$page"
grep -q '<title>a, K = 8: 3.00</title>' copy/docs/pictures/a.svg || fail "no bar in the picture"
expect 0 "$pages" --check "$page"
echo >>copy/docs/pictures/a.svg
expect 1 "$pages" --check "$page"
refused '<!-- table here/small | columns matrix; nnz -->' "no column nnz"
refused '<!-- table here/small | where size=1 -->' "no column size"
refused '<!-- table here/none -->' "expected either"
refused '<!-- table here/small | sorted by K -->' "unknown option sorted"
refused '<!-- summary nothing -->' "no row nothing"
printf '<!-- table here/small -->\n' >"$page"
expect 1 "$pages" "$page"
grep -qF "has no place for the table" err || fail "the missing end is not said"
expect 2 "$pages" --wrong

# Records of csr-bench instead of a TSV: SpMM against a vendor, and a ladder. Records name machine, date and commit.
mkdir real made
csr-import "$DATASETS/karate.mtx" real/karate.csr --values=random --quiet
csr-import "$DATASETS/lp_afiro.mtx" made/afiro.csr --quiet
for set in real made; do
  csr-bench $set/*.csr -k 8 --repeat 2 --kernels cpu.auto,cpu.row_loop --check --records $set.jsonl --quiet
done
data=copy/docs/results/here/data
sed 's/cpu.spmm.auto/gpu.spmm.auto/; s/cpu.spmm.row_loop/gpu.spmm.vendor_cusparse/' real.jsonl | gzip >$data/spmm.real.jsonl.gz
sed 's/cpu.spmm.auto/gpu.spmm.auto/; s/cpu.spmm.row_loop/gpu.spmm.vendor_cusparse/' made.jsonl >$data/spmm.stand-ins.jsonl
cp real.jsonl $data/ladder.real.jsonl
csr-bench real/karate.csr --kernels cpu.spgemm.auto,cpu.spgemm.hash_rows --reuse --check --repeat 2 --value-kind f32,f64 \
  --records spgemm.jsonl --quiet
sed 's/cpu.spgemm.auto/gpu.spgemm.auto/; s/cpu.spgemm.hash_rows/gpu.spgemm.vendor_cusparse/' spgemm.jsonl |
  sed 's/"cuda":"[^"]*","gpu":null/"cuda":"","gpu":{"name":"Some GPU"}/; s/"numeric_median_seconds":[^,]*/"numeric_median_seconds":0.002/' \
    >$data/spgemm.real.jsonl
cat >"$page" <<'END'
<!-- table here/spmm | where caches=warm | columns matrix; set; K; csrkit ms; cuSPARSE s; speed-up -->
<!-- end -->
<!-- table here/ladder -->
<!-- end -->
<!-- mean here/spgemm | of new values speed-up | by set, value kind -->
<!-- end -->
<!-- table here/spgemm -->
<!-- end -->
END
expect 0 "$pages" "$page"
grep -q '^| karate | real | 8 | ' "$page" || fail "no row of the compressed records"
grep -q '^| afiro (stand-in) | stand-ins | 8 | ' "$page" || fail "no row of the plain records"
grep -q '(data/spmm.stand-ins.jsonl)' "$page" || fail "the caption does not lead to the records"
grep -q 'commit [0-9a-f]' "$page" || fail "the caption does not name the commit"
has '| matrix | K | auto | row_loop |' "$page"
equals "$(grep -c '^| real | f[36][24] | 1 | 1.00 | 1.00 | karate | 0 / 0 / 1 |' "$page")" 2
grep -q '^\*Some GPU; [0-9]' "$page" || fail "the caption does not name the GPU"
grep -q '^\*2 threads of .*; [0-9]' "$page" || fail "the caption does not name the processor"
touch $data/spmm.tsv
expect 1 "$pages" "$page"
