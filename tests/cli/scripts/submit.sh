# shellcheck shell=bash
# The whole way without Slurm: prepare.sh, run.sh, report.sh; a second time nothing is left to do.
scripts=$CLI_FOLDER/../../run_scripts
all() {
  "$scripts/submit.sh" --local --cache cache --results results --orders rcm --no-pictures -k 4 "$@" -- --repeat 2
}
expect 2 all karate no_such_dataset lp_afiro # before anything is made
grep -q "there is no data set 'no_such_dataset'" err || fail "the unknown data set is not named"
expect 2 all arixv
grep -q "did you mean arxiv?" err || fail "the data set that was meant is not named"
no_file cache results
# So is what is mistyped in other words: a plan that keeps it would never be done.
refused() { # refused CODE TEXT OPTION...
  local code=$1 text=$2
  shift 2
  expect "$code" "$scripts/submit.sh" --local --cache cache --results results karate "$@"
  grep -qF -- "$text" err || { cat err >&2; fail "it does not say '$text'"; }
  no_file cache results
}
refused 3 '/no/folder/own.mtx does not exist' ./no/folder/own.mtx
refused 2 "--dense-cols is 'abc'" -k abc
refused 2 "there is no kernel 'cpu.no_such'" --kernels cpu.auto,cpu.no_such
refused 2 "there is no option --repeta" -- --repeta 2
refused 2 "there is no ordering called 'rmc'" --orders degree,rmc
refused 2 "--order-time is 'soon'" --orders degree --order-time soon
refused 2 "--max-nnz is '2M'" --max-nnz 2M
refused 2 "--scale is 'half'" --like --scale half
refused 2 "--scale is for --like" --scale 0.5
# One that fails leaves the others alone, and the page says so.
expect 3 all --raw nowhere karate lp_afiro ddi
grep -q '^5 of 9 cases\|^8 of 12 cases' results/table.md || fail "the table does not begin with what is missing"
grep -q 'fetch.sh --to .*nowhere ddi' results/table.md || fail "the line that mends it is not there"
rm -r results/jobs/plan.jsonl cache/ddi.problem
grep -q '| karate | rcm |' results/table.md || fail "the table lacks an order"
grep -q '| lp_afiro | natural |' results/table.md || fail "the table lacks a data set"
expect 0 all karate lp_afiro
equals "$(grep 'is in the records already' err | sort -u | wc -l | tr -d ' ')" 8
prints '| karate | rcm |' # the table, once more
equals "$(cat results/*.jsonl | wc -l | tr -d ' ')" 8
# A failed order costs its own row only, and its line says why.
expect 1 "$scripts/submit.sh" --local --cache cache --results rectangle --orders metis-partition,degree --no-pictures -k 4 \
  lp_afiro -- --repeat 2
grep -q '^4 of 6 cases, 1 data set incomplete' rectangle/table.md || fail "the failed order is not counted"
grep -q '^\* lp_afiro, metis-partition (2 cases)' rectangle/table.md || fail "the failed order is not named"
grep -q '| lp_afiro | degree |' rectangle/table.md || fail "the failed order took another one with it"
# A file of one's own, by its path, beside what is shipped; a name that stands for two is refused.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n' >own.mtx
expect 0 "$scripts/submit.sh" --local --like --cache cache --results own --orders degree --no-pictures -k 4 ./own.mtx karate \
  -- --repeat 2
prints '| own | degree |'
prints '| karate | natural |' # shipped: no stand-in for it
grep -qx "csr-import  of .*" cache/own.csr.made || fail "the file was not imported"
# The command that mends what was not measured can be pasted in any folder, though its paths are relative.
rm own/own.jsonl
expect 1 "$scripts/report.sh" --results own --no-pictures
mkdir elsewhere
sed -n 's/^\* own .*Mend: .\(.*\)./\1/p' own/table.md >mend
(cd elsewhere && expect 0 bash ../mend && no_file cache)
[ -s own/own.jsonl ] || fail "the command that mends it does not: $(cat mend)"
# The line that mends a gap can be pasted, whatever the names.
mkdir "my files" && printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n7 1 1\n' >"my files/it's.mtx"
expect 3 "$scripts/submit.sh" --local --cache "my cache" --results mine --no-pictures -k 4 "my files/it's.mtx" -- --repeat 2
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n' >"my files/it's.mtx"
sed -n 's/.*Mend: .\(.*\)./\1/p' mine/table.md >mend # between backticks
expect 0 bash mend
[ -f "my cache/it's.csr" ] || fail "the line that mends it does not: $(cat mend)"
mkdir twice && cp own.mtx twice/karate.mtx
expect 2 "$scripts/submit.sh" --local --cache cache --results none karate twice/karate.mtx
grep -q 'two data sets are named karate' err || fail "two data sets of one name are not named"
expect 3 "$scripts/submit.sh" --local --cache cache --results none ./no_such.mtx
cp own.mtx .hidden.mtx && cp own.mtx ./-dash.mtx
for file in ./.hidden.mtx ./-dash.mtx; do
  expect 2 "$scripts/submit.sh" --local --cache cache --results none "$file"
  grep -q -- "${file#./} is known by its name up to the first dot, which must not" err || fail "$file: $(cat err)"
done
no_file none
# What cannot be written is an I/O failure, and named.
expect 4 "$scripts/submit.sh" --local --cache own.mtx/cache --results none karate
grep -q 'error: --cache and --results need folders' err || fail "it does not say what is wrong: $(cat err)"
rm -rf none
mkdir -p "locked/.node.$(uname -n).lock"
expect 4 env -u SLURMD_NODENAME "$scripts/prepare.sh" --cache locked karate
grep -q 'error: cannot write into the cache locked' err || fail "it does not name the cache: $(cat err)"
# No GPU, no run: said before anything is made.
if ! has_gpu_code; then
  expect 6 "$scripts/submit.sh" --local --gpu --cache none --results none karate
  no_file none
fi
expect 3 "$scripts/run.sh" --cache nowhere --results none karate
grep -q '^run.sh: error: there is no folder nowhere; prepare.sh ' err || fail "it does not name the cache: $(cat err)"
no_file none
# A longest time of one's own is csr-bench's, and not a second one.
expect 0 "$scripts/run.sh" --cache cache --results longer --kernels cpu.auto -k 4 karate -- --max-seconds 0.2
# Columns that no kernel takes are csr-bench's to warn of, where somebody asks for them. A number of
# processors that is none counts as not given.
SLURM_CPUS_PER_TASK=none expect 0 "$scripts/run.sh" --cache cache --results vectors --kernels cpu.spmv.auto,cpu.spgemm.auto karate -- --repeat 1
grep -q 'it is unused' err && fail "it warns of columns that nobody asked for"
expect 0 "$scripts/run.sh" --cache cache --results vectors --kernels cpu.spmv.auto -k 4 karate -- --repeat 1
grep -q 'it is unused' err || fail "it does not say that -k is unused"
# What Slurm is asked for counts what follows --; of a job that it refuses, nothing stays queued.
mkdir slurm
cat >slurm/sbatch <<'END'
#!/bin/sh
echo "$@" >>sbatch.asked
[ "$(wc -l <sbatch.asked)" != "$REFUSED" ] || { echo "sbatch: error: refused" >&2; exit 1; }
wc -l <sbatch.asked
END
printf '#!/bin/sh\necho "$@" >>scontrol.asked\n' >slurm/scontrol
printf '#!/bin/sh\necho "$@" >>scancel.asked\n' >slurm/scancel
chmod +x slurm/*
queues() { PATH=$PWD/slurm:$PATH "$scripts/submit.sh" --cache cache --results queued -k 4 "$@"; }
export REFUSED=0
expect 0 queues ./own.mtx --kernels cpu.spmv.auto -- --value-kind=f32,f64 --max-seconds 300 --transpose
own=$(tail -n 1 sbatch.asked)
own=${own##* }
grep -q '^forecast=.* --value-kind f64 --max-seconds 300 --transpose' "$own" ||
  fail "csr-forecast is not told: $(grep ^forecast= "$own")"
read -ra words < <(sed -n 's/^forecast=(\(.*\))/\1/p' "$own")
expect 0 csr-forecast cache/own.csr --tool csr-bench "${words[@]}"
report=$(tail -n 1 sbatch.asked)
[[ $report == *' --time=60 '* && $report != *--mem=* ]] || fail "the report of a file asks for $report"
rm sbatch.asked
REFUSED=2 expect 2 queues karate
equals "$(tr -d ' ' <scancel.asked)" 1
grep -q 'nothing stays queued' err || fail "it does not say what becomes of the first job"
equals "$(wc -l <queued/jobs/plan.jsonl | tr -d ' ')" 1 # nor is it planned
equals "$(echo queued/jobs/settings.*)" "queued/jobs/${own##*/}"
# Nor does anything stay of a command that cannot write what its jobs need.
rm sbatch.asked scancel.asked
mkdir -p planless/jobs/plan.jsonl
expect 4 env "PATH=$PWD/slurm:$PATH" "$scripts/submit.sh" --cache cache --results planless -k 4 karate
equals "$(cat scancel.asked)" "1 2 3" # and none of the next, which queues nothing
no_file planless/jobs/settings.*
# shellcheck disable=SC2016 # it is the stub that reads $1
printf '#!/bin/sh\n[ "$1" != release ]\n' >slurm/scontrol.refuses && chmod +x slurm/scontrol.refuses
mkdir held && ln -s ../slurm/scontrol.refuses held/scontrol
rm sbatch.asked scancel.asked
expect 2 env "PATH=$PWD/held:$PWD/slurm:$PATH" "$scripts/submit.sh" --cache cache --results unreleased -k 4 karate
grep -q 'error: Slurm does not release' err || fail "it does not say what is wrong: $(cat err)"
equals "$(cat scancel.asked)" "1 2 3"
no_file unreleased/jobs/settings.*
mkdir nowhere && ln -s /proc nowhere/jobs # no folder to write in, not even for root
expect 4 env "PATH=$PWD/slurm:$PATH" "$scripts/submit.sh" --cache cache --results nowhere -k 4 karate
grep -q 'error: cannot write .*nowhere/jobs' err || fail "it does not name the folder: $(cat err)"
equals "$(wc -l <scancel.asked | tr -d ' ')" 1
rm sbatch.asked
expect 0 queues karate
# Jobs of the first command may still wait: they keep the settings that they were queued with.
grep -q '^names=(.*own.mtx )$' "$own" || fail "a second command changed what the first one's jobs do: $(head -n 1 "$own")"
second=$(tail -n 1 sbatch.asked)
grep -q '^names=(karate )$' "${second##* }" || fail "the second command has the settings ${second##* }"
grep -q '"datasets":\["karate"\]' queued/jobs/plan.jsonl || fail "what Slurm takes is not planned"
# Logs are where they belong though Slurm has a meaning for their folder's name.
queues_to() { PATH=$PWD/slurm:$PATH "$scripts/submit.sh" --cache cache --results "$1" -k 4 karate; }
rm sbatch.asked
expect 0 queues_to 50%done
grep -qF -- "--output=$PWD/50%%done/jobs/run-%a.log" sbatch.asked || fail "Slurm reads a field in $(cat sbatch.asked)"
expect 2 queues_to 'back\slash'
grep -q 'the path of --results has a backslash' err || fail "it does not say what is wrong: $(cat err)"
no_file 'back\slash'
# Stand-ins, the largest first and two at a time; time that is up leaves a report and work to do.
like() {
  "$scripts/submit.sh" --local --like --scale 0.002 --cache like --results liked --no-pictures -k 4 --at-once 2 "$@"
}
expect 143 like --within 2 ddi yelp -- --repeat 100000
grep -q 'the same command does the rest' err || fail "it does not say that something is left"
expect 0 like --within 600 ddi yelp -- --repeat 2
prints '| ddi (stand-in, 0.2 % of its size) |'
prints '| yelp (stand-in, 0.2 % of its size) |'
no_file like/*.tmp
expect 2 like --within soon ddi
expect 2 like --at-once 0 ddi
# A report that fails ends with its own code, and prints no table of another one.
echo 'no record' >liked/broken.jsonl
expect 3 "$scripts/report.sh" --results liked --print
silent out
