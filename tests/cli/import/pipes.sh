# shellcheck shell=bash
# Text comes through a pipe where the format can be streamed; everything else is refused, nothing waits.
tiny_mtx >tiny.mtx
csr-import tiny.mtx file.csr --quiet
# shellcheck disable=SC2002 # a pipe is what is tested
expect 0 sh -c 'cat tiny.mtx | csr-import /dev/stdin piped.csr'
same_matrix file.csr piped.csr
mkfifo pipe
(sleep 0.3 && printf '%% edges\n0 1\n1 2\n' >pipe) &
expect 0 timeout 20 csr-import pipe edges.csr
equals "$(csr-info edges.csr --header-only --json >out && json nnz)" 2
# What travels with the matrix says what came: the same digest as that of the file.
digest() { csr-info "$1" --provenance --json >out && json provenance.steps.0.inputs.0.xxh3_128; }
equals "$(digest piped.csr)" "$(digest file.csr)"
rm edges.csr
# A late line that is wrong has its number.
expect 3 sh -c 'printf "0 1\n1 2\n2 x\n" | csr-import /dev/stdin edges.csr'
says "/dev/stdin:3:"
gzip -k tiny.mtx
expect 3 sh -c 'csr-import /dev/stdin edges.csr <pipe & cat tiny.mtx.gz >pipe; wait $!'
says "decompress it on the way"
expect 3 sh -c 'printf "nothing that csrkit knows\n" | csr-import /dev/stdin edges.csr'
says "expected matrix-market or edge-list from a pipe"
printf 'PK\003\004\r\000\000' >archive # is no text of old Macs
# shellcheck disable=SC2002 # a pipe is what is tested
expect 3 sh -c 'cat archive | csr-import /dev/stdin edges.csr'
says "found something else; save other formats in a file first"
expect 3 csr-import archive edges.csr --format matrix-market
says "archive:1: expected a first line that begins with %%MatrixMarket"
expect 3 sh -c ': | csr-import /dev/stdin edges.csr'
says "found nothing"
expect 4 timeout 5 csr-import pipe edges.csr --format npz
says "save its content in a file first"
expect 4 timeout 20 csr-import pipe edges.csr
says "nobody has written into this pipe"
expect 4 timeout 5 csr-import /dev/tty edges.csr
no_file edges.csr
# A file as standard input is read from its beginning: one that was read before is refused, its rest comes by a pipe.
printf '3 3\n0 1\n1 2\n' >edges.txt
expect 0 sh -c 'csr-import - whole.csr <edges.txt'
equals "$(csr-info whole.csr --header-only --json >out && json nnz)" 3
expect 4 bash -c '{ read -r line; csr-import - rest.csr; } <edges.txt'
says "standard input is a file of which 4 bytes were read before"
expect 4 bash -c '{ read -r line; csr-import /dev/stdin rest.csr; } <edges.txt'
no_file rest.csr
expect 0 bash -c '{ read -r line; cat | csr-import - rest.csr; } <edges.txt'
equals "$(csr-info rest.csr --header-only --json >out && json nnz)" 2
