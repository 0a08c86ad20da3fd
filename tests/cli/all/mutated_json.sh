# shellcheck shell=bash
# JSON that somebody broke: every tool ends with a documented exit code and a sentence, never in a
# crash or an "unexpected". Seeded: the same mutations every time.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-bench karate.csr -k 2 --repeat 2 --warmup 0 --check --records seed.jsonl --quiet
csr-spmm-cpu karate.csr -k 2 --repeat 1 --tune seed_cache.json --quiet
# Any profile serves; to measure one takes seconds, and fails on a machine that is too busy.
cp "$CLI_FOLDER/../soak/seeds/profile/cpu.json" seed_profile.json
python3 "$CLI_FOLDER/mutate_json.py" seed.jsonl 70 csr-bench --attempts 1 --tolerance 1000 --quiet --verify @
python3 "$CLI_FOLDER/mutate_json.py" seed.jsonl 50 csr-bench karate.csr -k 2 --repeat 2 --warmup 0 --check --quiet --resume --records @
python3 "$CLI_FOLDER/mutate_json.py" seed_cache.json 60 csr-spmm-cpu karate.csr -k 2 --repeat 1 --quiet --tune @
python3 "$CLI_FOLDER/mutate_json.py" seed_profile.json 60 csr-info karate.csr --locality -k 2 --quiet --machine @
csr-generate poisson grid.csr --set nx=3 --quiet
csr-solve-cpu grid.csr --rhs random --right-hand-sides 2 --json >seed_solve.json
python3 "$CLI_FOLDER/mutate_json.py" seed_solve.json 40 csr-report --force --no-html --markdown out.md --csv out.csv --quiet @
python3 "$CLI_FOLDER/mutate_json.py" seed.jsonl 40 csr-report --force --no-html --markdown out.md --csv out.csv --quiet @
if has_matplotlib; then
  python3 "$CLI_FOLDER/mutate_json.py" seed.jsonl 6 csr-report --force --quiet -o out.html @
fi

# The first ones that were found, by name.
echo '{"schema":2,"status":"done","case":{}}' >empty_case.jsonl
expect 3 csr-bench --verify empty_case.jsonl
says 'empty_case.jsonl:1: expected a record of csr-bench: case: expected a member "kernel"'
python3 -c 'print("{\"status\": \"done\", \"case\": " + "[" * 100000 + "]" * 100000 + "}")' >deep.jsonl
expect 3 csr-bench --verify deep.jsonl
says "at most 64 nested"
expect 3 csr-bench karate.csr -k 2 --records deep.jsonl --resume
expect 3 csr-report deep.jsonl --force --no-html --markdown out.md
echo '{"csrkit_tuning": 1e9999, "entries": []}' >range.json
expect 3 csr-spmm-cpu karate.csr --tune range.json
says "float64"
# A folder opens, and refuses to be read.
mkdir folder.jsonl
expect 4 csr-bench --verify folder.jsonl
expect 4 csr-bench karate.csr --records folder.jsonl
expect 4 csr-spmm-cpu karate.csr --tune folder.jsonl
expect 4 csr-info karate.csr --locality --machine folder.jsonl
expect 4 csr-report --force folder.jsonl --no-html --markdown out.md
# A pipe that nobody writes to is refused at once.
mkfifo pipe
for command in "csr-bench --verify pipe" "csr-bench karate.csr --records pipe" "csr-spmm-cpu karate.csr --tune pipe" \
  "csr-info karate.csr --locality --machine pipe" "csr-info pipe" \
  "csr-report pipe --force --no-html --markdown out.md"; do
  # shellcheck disable=SC2086 # words on purpose
  expect 4 timeout 20 $command
  says "regular file"
done
# A line of a gigabyte takes neither that much memory nor that much time.
python3 -c '
with open("long.jsonl", "wb") as file:
    file.write(b"{\"status\": \"")
    file.truncate(1 << 30)'
for command in "csr-bench --verify long.jsonl" "csr-report long.jsonl --force --no-html --markdown out.md"; do
  expect 3 sh -c "ulimit -v 600000; OMP_NUM_THREADS=1 exec $command"
  says "16777216 bytes"
done
