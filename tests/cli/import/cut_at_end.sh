# shellcheck shell=bash
# Text that is cut within its last number is a matrix, too. A missing line end is all that shows, and it is said.
printf '%%%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 2.5\n3 4 1.25e-3\n' >whole.mtx
head -c -5 whole.mtx >cut.mtx
expect 0 csr-import whole.mtx whole.csr
silent err
expect 0 csr-import cut.mtx cut.csr --json
says 'warning: cut.mtx: line 4, the last one, has no line end behind "1.2": if the file was cut there, this number is wrong'
prints 'has no line end behind \"1.2\"'
expect 0 csr-import cut.mtx cut.csr --quiet --force
silent err
expect 0 sh -c 'csr-import - piped.csr <cut.mtx'
says 'has no line end behind "1.2"'
# shellcheck disable=SC2002 # a pipe is what is tested
expect 0 sh -c 'cat cut.mtx | csr-import - piped.csr --force'
says 'has no line end behind "1.2"'
# A compressed stream that is complete ends where it was meant to.
gzip -k cut.mtx
expect 0 csr-import cut.mtx.gz packed.csr
silent err
same_matrix cut.csr packed.csr
# Every edge of a METIS graph is there twice, with equal weights: a cut number is refused, and a whole one raises no doubt.
graph() { # graph LAST: edge 12 - 30, whose second half ends the file
  echo '30 1'
  for vertex in $(seq 30); do
    case $vertex in
      12) echo 30 ;;
      30) printf '%s' "$1" ;;
      *) echo ;;
    esac
  done
}
graph 12 >whole.graph
expect 0 csr-import whole.graph graph.csr
silent err
graph 1 >cut.graph
expect 3 csr-import cut.graph no.csr
no_file no.csr
