# shellcheck shell=bash
# What csr-info says about a matrix that a person can check.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
expect 0 csr-info tiny.csr --json
equals "$(json rows) $(json cols) $(json nnz)" "4 4 6"
equals "$(json empty_rows) $(json empty_cols)" "1 0"
equals "$(json row_lengths.longest) $(json row_lengths.longest_row)" "3 3"
equals "$(json row_lengths.mean)" 1.5
equals "$(json bandwidth)" 3
equals "$(json diagonal_entries)" 3
equals "$(json is_pattern_symmetric)" False
expect 0 csr-info tiny.csr --provenance
python3 -c '
import json
steps = json.load(open("out"))["steps"]
assert [step["tool"] for step in steps] == ["csr-import"], steps
assert steps[0]["time"] == "1970-01-01T00:00:00Z", steps
assert steps[0]["inputs"][0]["path"] == "tiny.mtx" and len(steps[0]["inputs"][0]["xxh3_128"]) == 32
assert steps[0]["command_line"] == ["csr-import", "tiny.mtx", "tiny.csr", "--quiet"], steps'
expect 0 csr-info tiny.csr --header-only
prints "row_offsets"
for io in auto mmap read; do expect 0 csr-info tiny.csr --io $io; done
expect 2 csr-info tiny.csr --io fast
# A picture is a PNG, whatever its name says.
for name in spy.jpg spy.svg spy.csr; do
  expect 2 csr-info tiny.csr --spy $name
  says "the output '$name' would not be what its name says, but a .png file"
done
expect 0 csr-info tiny.csr --spy SPY.PNG
