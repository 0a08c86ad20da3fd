# shellcheck shell=bash
# What a tool does not understand it refuses, with exit code 2 and a sentence.
for tool in $(all_tools); do
  expect 2 "$tool" --no-such-option
  says "there is no option --no-such-option"
  silent out
  expect 2 "$tool"
  says "expected"
  expect 2 "$tool" ''
  expect 2 "$tool" a b c d ''
  expect 2 "$tool" a.csr --json --json
  says "--json is given 2 times"
  expect 2 "$tool" a.csr --quiet --verbose
  expect 2 "$tool" --help=3
  expect 2 "$tool" -z
  expect 2 "$tool" --versoin
  says "did you mean --version?"
done
for tool in csr-import csr-export csr-reorder; do
  expect 2 "$tool" only_one
  expect 2 "$tool" one two three
  says "'three'"
done
tiny_mtx >timed.mtx
export SOURCE_DATE_EPOCH=soon
expect 0 csr-import --help
expect 2 csr-import timed.mtx timed.csr
says "SOURCE_DATE_EPOCH is 'soon'; it must be whole seconds since 1970, or unset"
export SOURCE_DATE_EPOCH=0
touch -- -x.mtx
expect 2 csr-import -x.mtx x.csr
says "there is no option -x; the file of this name is ./-x.mtx"
for value in 0 -1 1e9x '' 2147483648 ' 3' 3.5 0x10 99999999999999999999; do
  expect 2 csr-spmm-cpu a.csr --dense-cols "$value"
  says "--dense-cols"
  expect 2 csr-bench a.csr --dense-cols "$value"
done
expect 2 csr-spmm-cpu a.csr --dense-cols
says "needs a value"
expect 2 csr-spmm-cpu a.csr --output --check
says "found the option '--check'"
for value in 0 1.5G 8X '' -1 G 99999999999T; do
  expect 2 csr-spmm-cpu a.csr --memory-limit "$value"
  says "--memory-limit"
done
for value in nan inf '' 1,5 x; do
  expect 2 csr-spmm-cpu a.csr --alpha "$value"
  says "--alpha"
done
expect 2 csr-spmm-cpu a.csr --kernel no_such_kernel
says "nnz_balanced"
expect 2 csr-spmm-cpu a.csr --semiring plus
expect 2 csr-spmm-cpu a.csr --check=most
expect 2 csr-spmm-cpu a.csr --check full
says "--check full reads 'full' as a file; say --check=full"
expect 2 csr-import a.mtx new.csr --add-inverse true
says "say --add-inverse=true"
expect 2 csr-spmm-cpu a.csr --schedule random
expect 2 csr-import a b --duplicates=last
expect 2 csr-import a b --values=zero
expect 2 csr-import a b --self-loops=maybe
expect 2 csr-import a b --base=2
expect 2 csr-import a b --value-kind=none --gcn-normalize
expect 2 csr-import a b --format=no-such-format
expect 2 csr-reorder a b
says "expected one of --method NAME"
expect 2 csr-reorder a b --method rcm --undo
expect 2 csr-reorder a b --method rcm --descending
expect 2 csr-reorder a b --method rcm --parts 4
expect 2 csr-generate rmat
expect 2 csr-generate rmat a.csr --set scale
expect 2 csr-generate rmat a.csr --set scale=3 --set scale=4
expect 2 csr-generate rmat a.csr --set no_such_parameter=3
expect 2 csr-generate no-such-pattern a.csr
expect 2 csr-generate --like no-such-dataset a.csr
expect 2 csr-generate rmat --like arxiv a.csr
expect 2 csr-info a.csr --verify --python
expect 2 csr-bench a.csr --resume
expect 2 csr-bench a.csr --kernels auto
says "does not say where"
expect 2 csr-bench a.csr --kernels cpu.auto,cpu.auto
expect 2 csr-bench a.csr --kernels cpu.auto,
# A list names nothing twice, whatever it is for.
tiny_mtx >twice.mtx
csr-import twice.mtx twice.csr --quiet
while read -r option item command; do
  # shellcheck disable=SC2086 # words of a command
  expect 2 $command
  says "error: $option names $item twice; once is enough"
done <<'END'
--kernels cpu.spmm.auto csr-bench twice.csr --kernels cpu.auto,cpu.auto
--value-kind f32 csr-bench twice.csr --value-kind f32,f32
--dense-cols 4 csr-bench twice.csr -k 4,8,4
--kernels cpu.spmm.auto csr-forecast twice.csr --tool csr-bench --kernels cpu.auto,cpu.auto
--dense-cols 4 csr-forecast twice.csr -k 4,4
--ranks 3 csr-forecast twice.csr --ranks 3,3
--dense-cols 4 csr-forecast twice.csr --ranks 3 -k 4,4
--ranks 3 csr-forecast twice.csr --operation spgemm --ranks 3,2,3
--dense-cols 4 csr-info twice.csr --locality -k 4,4
--dense-cols 4 csr-reorder twice.csr no.csr --method rcm --report -k 4,4
--dense-cols 4 csr-probe --output no.json -k 4,4
END
no_file no
expect 2 csr-bench a.csr a.csr
says "error: the command line names a.csr twice; once is enough"
expect 2 csr-bench a.csr --against cpu.row_loop
no_file a b
# A seed where nothing is random would be ignored.
unseeded() { # unseeded TEXT COMMAND...
  expect 2 "${@:2}" --seed 7
  says "$1"
}
tiny_mtx >seed.mtx
csr-import seed.mtx seed.csr --quiet
csr-spmm-cpu seed.csr -k 1 --value-kind f64 --output seed1.npy --quiet
unseeded "--seed is for --values random" csr-import seed.mtx b.csr --values ones
unseeded "poisson: a seed has no effect, as nothing is random here; leave it out" csr-generate poisson b.csr --set nx=3
unseeded "dense: a seed has no effect" csr-generate dense b.csr --set rows=3 --value-kind none
unseeded "--seed is for --advise and --method random, row-similarity, " csr-reorder seed.csr b.csr --method rcm
unseeded "--seed is for --method metis" csr-partition seed.csr b.csr --parts 2 --method blocks
unseeded "--seed has no effect: --input gives all of B, and --beta is 0" csr-spmm-cpu seed.csr --input seed1.npy
unseeded "--seed has no effect: --input gives all of x, and --beta is 0" csr-spmv-cpu seed.csr --input seed1.npy
unseeded "--seed has no effect: --input-x and --input-y give X and Y" csr-sddmm-cpu seed.csr --input-x seed1.npy --input-y seed1.npy
unseeded "--seed has no effect: --input gives B" csr-spmm-dist seed.csr --input seed1.npy
unseeded "--seed has no effect: --rhs ones draws no random numbers" csr-solve-cpu seed.csr --rhs ones
no_file b
expect 0 csr-spmm-cpu seed.csr --input seed1.npy --beta 1 --seed 7
expect 0 csr-spmm-cpu seed.csr --seed 7
expect 0 csr-sddmm-cpu seed.csr --input-x seed1.npy --seed 7
expect 0 csr-solve-cpu --generate-dense 4 --rhs ones --seed 7
expect 0 csr-generate poisson random.csr --set nx=3 --set contrast=9 --seed 7
# So would a profile where nothing is forecast: between GPUs it may still choose the way.
expect 2 csr-spmm-dist seed.csr --grid 1x1 --profile cluster
says "--profile has no effect: --grid gives the grid"
expect 2 csr-spmm-dist seed.csr --device gpu --exchange nccl --ranks 2 --grid 2x1 --profile h200x4
says "--profile has no effect: --grid gives the grid, and nothing chooses a way between GPUs"
expect 0 csr-spmm-dist seed.csr --exchange peer --profile cluster
# An output of another format never takes the place of its own input.
tiny_mtx >kept.mtx
csr-import kept.mtx kept.csr --quiet
cp kept.mtx copy.mtx
cp kept.csr copy.csr
ln -s kept.csr link.csr
expect 2 csr-import kept.mtx ./kept.mtx
says "would be lost"
expect 2 csr-export kept.csr link.csr --format matrix-market
expect 2 csr-spmm-cpu link.csr --output kept.csr
cmp kept.mtx copy.mtx
cmp kept.csr copy.csr
