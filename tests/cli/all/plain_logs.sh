# shellcheck shell=bash
# Logs and reports hold no escape code and no carriage return, whatever files are called and whatever
# the terminal is.
clean() { # clean FILE...: neither ESC nor CR nor other control characters
  if grep -lP '[\x00-\x08\x0b-\x1f\x7f]' "$@" >&2; then cat -v "$@" >&2; fail "control characters"; fi
}
name=$(printf 'red\033[31m\r\b.csr')
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
cp tiny.csr "$name"
cp tiny.mtx "$name.mtx"
for command in csr-info "csr-spmm-cpu -k 2 --repeat 1" "csr-bench -k 2 --repeat 1" "csr-bench -k 2 --repeat 1 --json" \
  "csr-info --json" "csr-spgemm-cpu --repeat 1"; do
  # shellcheck disable=SC2086 # words on purpose
  expect 0 $command "$name"
  clean out err
done
expect 0 csr-import "$name.mtx" "out $name"
clean out err
csr-info "out $name" --provenance >out
clean out
expect 3 csr-info "$name.mtx"
clean err
expect 4 csr-info "no $name"
clean err
expect 3 csr-import "$name" other.csr
clean err
expect 2 csr-info tiny.csr "--$name"
clean err
# Nor does a name begin a line of its own.
name=$(printf 'two\nlines.csr')
expect 3 csr-info tiny.mtx
cp tiny.mtx "$name"
expect 3 csr-info "$name"
says 'two\x0alines.csr'
equals "$(wc -l <err)" 1
expect 4 csr-info "no $name"
equals "$(wc -l <err)" 1
rm "$name"
name=$(printf 'red\033[31m\r\b.csr')
csr-bench "$name" -k 2 --repeat 1 --kernels cpu.auto,cpu.row_loop --records bundle.jsonl --quiet
expect 0 csr-report bundle.jsonl --no-html --markdown table.md
clean out err table.md
sed 's/"matrix":"[^"]*"/"matrix":"a|b<img src=x onerror=y>.csr"/' bundle.jsonl >hostile.jsonl
expect 0 csr-report --force hostile.jsonl --no-html --markdown table.md
grep -qF 'a\|b\<img src=x onerror=y\>' table.md || { cat table.md >&2; fail "the Markdown is not escaped"; }
# shellcheck disable=SC2016 # no expansion wanted
sed 's/"matrix":"[^"]*"/"matrix":"$x^$<b>.csr"/' bundle.jsonl >formula.jsonl
expect 0 csr-report formula.jsonl -o page.html --quiet
if grep -q '<b>' page.html; then fail "the page is not escaped"; fi

# At a terminal a progress line is shown, unless it is dumb or plain text is wanted.
cat >terminal.py <<'END'
import os, pty, sys
settings, command = sys.argv[1], sys.argv[2:]
child, master = pty.fork()
if child == 0:
    os.environ.pop("NO_COLOR", None)
    os.environ["TERM"] = "xterm"
    for setting in settings.split():
        name, _, value = setting.partition("=")
        os.environ[name] = value
    os.execvp(command[0], command)
said = b""
while True:
    try:
        piece = os.read(master, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
shown = b"\x1b" in said or b"\r" in said.replace(b"\r\n", b"\n")
print(code, "escapes" if shown else "plain")
END
csr-generate rmat big.csr --set scale=14 --quiet
csr-export big.csr big.mtx --quiet
equals "$(python3 terminal.py TERM=xterm csr-import --force big.mtx big2.csr)" "0 escapes"
for settings in TERM=dumb NO_COLOR=1 "TERM=dumb NO_COLOR=1"; do
  equals "$(python3 terminal.py "$settings" csr-import --force big.mtx big2.csr)" "0 plain"
done
