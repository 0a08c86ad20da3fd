# shellcheck shell=bash
# Outputs appear whole or not at all, and replace nothing but regular files.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --quiet
csr-bench tiny.csr -k 2 --repeat 2 --kernels cpu.auto,cpu.row_loop --records bundle.jsonl --quiet
report() { csr-report bundle.jsonl --no-html "$@"; }

# Refused, whichever output it is, and before any other output appears.
mkfifo pipe
mkdir folder
if [ "$(id -u)" = 0 ] && mknod null c 1 3 2>/dev/null; then nodes="pipe null"; else nodes=pipe; fi
for node in $nodes; do
  before=$(stat -c %F:%i "$node")
  ln -s "$node" "to_$node"
  for path in "$node" "to_$node"; do
    expect 4 report --markdown "$path"
    says "cannot write '$path': it is no regular file"
    expect 4 report --csv "$path" --markdown other.md
    says "cannot write '$path': it is no regular file"
    no_file other.md
    equals "$(stat -c %F:%i "$node")" "$before"
    equals "$(readlink "to_$node")" "$node"
  done
done
expect 4 report --markdown folder
says "cannot write 'folder': it is a folder"
expect 4 report --markdown new/
says "cannot write 'new/': it names a folder, not a file"
expect 4 report --markdown -
says "cannot write '-': an output is a file, not standard output"
no_file -
expect 4 csr-generate rmat - --set scale=3
says "cannot write '-': an output is a file, not standard output"
no_file -
expect 0 report --markdown ./-
# Nor under a name that leads to it, whether it is a file or a pipe.
ln -s /proc/self/fd/1 stdout
for path in stdout /proc/self/fd/1; do
  for command in "csr-report bundle.jsonl --no-html --markdown" "csr-generate rmat --set scale=3"; do
    expect 4 bash -c "$command $path --force"
    says "cannot write '$path': an output is a file, not standard output or a pipe; name one"
    expect 4 bash -c "set -o pipefail; $command $path | cat"
    says "cannot write '$path': an output is a file, not standard output or a pipe; name one"
    silent out
  done
done
expect 4 report --markdown no/such/folder/a.md
says "cannot write 'no/such/folder/a.md': its folder cannot be opened: No such file or directory"
ln -s loop loop
expect 4 report --markdown loop
says "cannot write 'loop': too many levels of symbolic links"
long=$(printf '%0252d' 0)
expect 0 report --markdown "$long.md"
expect 4 report --csv other.csv --markdown "1$long.md"
says "it cannot be made: File name too long"
no_file other.csv 1

# A symbolic link stays; what it points at is replaced, or made.
expect 0 report --markdown expected.md
mkdir there
echo old >there/target.md
ln -s there/target.md link.md
ln -s link.md link_to_link.md
ln -s there/absent.csv dangling.csv
expect 0 report --markdown link_to_link.md --force --csv dangling.csv
equals "$(readlink link_to_link.md)" link.md
equals "$(readlink link.md)" there/target.md
equals "$(readlink dangling.csv)" there/absent.csv
cmp expected.md there/target.md
[ -s there/absent.csv ] || fail "the target of the link was not made"
expect 2 report --markdown link.md --csv there/target.md
says "two outputs have the same name"
ln -s bundle.jsonl to_bundle
expect 2 report --markdown to_bundle
says "would be lost"

# A file is what any new file is.
(umask 027 && report --markdown shared.md --quiet)
equals "$(stat -c %a shared.md)" 640

# A disk that is full costs no old file.
echo old >kept.md
said=$(
  ulimit -f 0
  report --markdown kept.md --force 2>&1 || echo "code $?"
)
case $said in
  *"cannot write 'kept.md': writing failed: File too large"*"code 4") ;;
  *) fail "a full disk: $said" ;;
esac
equals "$(cat kept.md)" old

# Nor does a signal, and it leaves nothing behind.
bin=$(dirname "$(command -v csr-report)")
for number in 1 2 3 15; do # SIGHUP, SIGINT, SIGQUIT, SIGTERM
  code=0
  PYTHONPATH=$bin/../share/csrkit:$bin python3 - $number <<'PYTHON' || code=$?
import os, sys
from report import atomic_file, command_line
def write():
    os.fsync = lambda _: os.kill(os.getpid(), int(sys.argv[1]))
    atomic_file.write_files([("kept.md", "new"), ("more.md", b"new")])
sys.exit(command_line.run(write))
PYTHON
  equals "$code" $((128 + number))
  equals "$(cat kept.md)" old
  no_file more.md kept.md.tmp expected.md.tmp shared.md.tmp there/target.md.tmp
done
