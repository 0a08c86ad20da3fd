# shellcheck shell=bash
# An output that exists is refused before any work, in every tool that writes files, and stays as it
# was; --force replaces it. Files that tools keep up to date are theirs to change.
csr-generate poisson grid.csr --set nx=9 --value-kind f64 --quiet
csr-spmv-cpu grid.csr --output rhs.npy --quiet
csr-bench grid.csr -k 2 --repeat 1 --warmup 0 --records bundle.jsonl --quiet
csr-reorder grid.csr order.csr --method degree --quiet

# written FILE COMMAND...: writes a new file, never replaces one, and does with --force
written() {
  local file=$1
  shift
  expect 0 "$@" --quiet
  cp "$file" first
  printf 'precious' >"$file"
  expect 2 "$@"
  says "the output '$file' exists already; --force replaces it"
  silent out
  equals "$(cat "$file")" precious
  rm -f link.out
  ln -s "$file" link.out
  expect 2 "${@//"$file"/link.out}"
  equals "$(cat "$file")" precious
  expect 0 "$@" --force --quiet
  if grep -q '^precious' "$file"; then fail "--force did not replace $file"; fi
}
# What a tool writes does not follow the name, so a name of another format is refused.
misnamed() {
  expect 2 "$@"
  says "would not be what its name says"
  if compgen -G 'misnamed.*' >left; then fail "$1 left $(cat left)"; fi
}
misnamed csr-import "$DATASETS/karate.mtx" misnamed.mtx
misnamed csr-generate rmat misnamed.npz --set scale=5
misnamed csr-reorder grid.csr misnamed.mtx.gz --method rcm
misnamed csr-reorder order.csr misnamed.csv --apply-to rhs.npy
misnamed csr-partition grid.csr misnamed.graph --parts 2 --method blocks
misnamed csr-spmm-cpu grid.csr --output misnamed.csr
misnamed csr-spmm-dist grid.csr --ranks 2 --output misnamed.csr
misnamed csr-spgemm-dist grid.csr --ranks 2 --output misnamed.mtx
misnamed csr-spmv-cpu grid.csr --output misnamed.mtx
misnamed csr-sddmm-cpu grid.csr --output misnamed.mtx
misnamed csr-spgemm-cpu grid.csr --output misnamed.npy
misnamed csr-solve-cpu grid.csr --output misnamed.mtx
written out.csr csr-import "$DATASETS/karate.mtx" out.csr
written out2.csr csr-generate rmat out2.csr --set scale=5
written out.mtx csr-export grid.csr out.mtx
written out3.csr csr-reorder grid.csr out3.csr --method rcm
written ranked.csr csr-partition grid.csr ranked.csr --parts 2 --method blocks
written moved.npy csr-reorder order.csr moved.npy --apply-to rhs.npy
written spmm.npy csr-spmm-cpu grid.csr -k 2 --repeat 1 --output spmm.npy
written dist.npy csr-spmm-dist grid.csr -k 2 --ranks 2 --repeat 1 --output dist.npy
written dist.csr csr-spgemm-dist grid.csr --ranks 2 --repeat 1 --output dist.csr
written spmv.npy csr-spmv-cpu grid.csr --repeat 1 --output spmv.npy
written sampled.csr csr-sddmm-cpu grid.csr --repeat 1 --output sampled.csr
written product.csr csr-spgemm-cpu grid.csr --repeat 1 --output product.csr
written x.npy csr-solve-cpu grid.csr --output x.npy
written spy.png csr-info grid.csr --spy spy.png
written density.png csr-density grid.csr --spy density.png
written page.md csr-report bundle.jsonl --no-html --markdown page.md
written page.csv csr-report bundle.jsonl --no-html --csv page.csv
printf 'precious' >profile.json
expect 2 csr-probe --output profile.json
says "--force replaces it"
equals "$(cat profile.json)" precious
# The name of the best iterate is an output, too, and a missing input is no reason to look further.
printf 'precious' >y.best.npy
expect 2 csr-solve-cpu grid.csr --output y.npy
says "y.best.npy"
expect 2 csr-import not_there.mtx out.csr
says "--force replaces it"
# A matrix may be replaced by itself in another order, but by nothing else that is read.
expect 2 csr-reorder order.csr order.csr --undo
expect 0 csr-reorder order.csr order.csr --undo --force --quiet
same_matrix grid.csr order.csr
expect 2 csr-export grid.csr grid.csr --format matrix-market --force
says "would be lost"

# What is no file is not replaced either, and says so.
mkdir folder
expect 4 csr-generate rmat folder --set scale=5 --force
says "it is a folder"
# What cannot be written is known before any work: here the input is not even looked at.
mkfifo pipe
before=$(stat -c %F:%i pipe)
too_long=$(printf 'n%.0s' {1..256})
cannot_write() { # cannot_write COMMAND...: with the output's name last
  local name
  for name in folder pipe /dev/null no/such/folder/out "$too_long"; do
    expect 4 "$@" "$name"
    says "cannot write '$name'"
    silent out
  done
  equals "$(stat -c %F:%i pipe)" "$before"
}
cannot_write csr-import absent.mtx
cannot_write csr-export --format npz absent.csr
cannot_write csr-reorder --method rcm absent.csr
cannot_write csr-partition --parts 2 --method blocks absent.csr
cannot_write csr-generate rmat --set scale=30
for tool in "csr-spmm-cpu -k 2" csr-spmv-cpu csr-spgemm-cpu csr-sddmm-cpu csr-solve-cpu "csr-spgemm-dist --ranks 2"; do
  # shellcheck disable=SC2086 # words on purpose
  cannot_write $tool absent.csr --output
done
cannot_write csr-spmm-dist -k 100 --ranks 100 grid.csr --output # more ranks than a process may open files
cannot_write csr-info absent.csr --spy
cannot_write csr-density absent.csr --spy
cannot_write csr-probe --output # measuring takes a minute

# Records and tuning caches grow.
expect 0 csr-bench grid.csr -k 3 --repeat 1 --warmup 0 --records bundle.jsonl --quiet
equals "$(wc -l <bundle.jsonl)" 2
expect 0 csr-spmv-cpu grid.csr --repeat 1 --tune cache.json --quiet
expect 0 csr-spmv-cpu grid.csr --repeat 1 --tune cache.json --quiet

if has_matplotlib; then
  expect 0 csr-report bundle.jsonl --no-html --figures pictures --quiet
  expect 2 csr-report bundle.jsonl --no-html --figures pictures
  says "--force replaces figures"
  expect 0 csr-report bundle.jsonl --no-html --figures pictures --force --quiet
fi
