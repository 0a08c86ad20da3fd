# shellcheck shell=bash
# Lines end with LF or CR LF. CR alone, of old Macs, is named with its place, and what is said to do works.
tiny_mtx >tiny.mtx
printf '# edges\n0 1\n1 2\n2 0\n' >edges.txt
printf 'source,target\n0,1\n1,2\n' >named.csv
printf '3 2\n2\n1 3\n2\n' >path.graph
printf '3, 4, 3\n0 2 2 3\n3 1 2\n' >deep.smtx
expected="expected lines that end with LF or CR LF, found lines that end with CR alone, as old Macs wrote them; convert the text: tr '\r' '\n' <OLD >NEW"
for name in tiny.mtx edges.txt named.csv path.graph deep.smtx; do
  csr-import $name unix.csr --quiet --force
  sed 's/$/\r/' $name >windows-$name
  expect 0 csr-import windows-$name windows.csr --force
  same_matrix unix.csr windows.csr
  tr '\n' '\r' <$name >mac-$name
  expect 3 csr-import mac-$name no.csr
  says "mac-$name:"
  says "${expected#*, }"
  tr '\r' '\n' <mac-$name >again-$name
  expect 0 csr-import again-$name again.csr --force
  same_matrix unix.csr again.csr
done
# The reader that --format names says the same of the first line, however long it is and whatever brings it.
expect 3 csr-import mac-edges.txt no.csr --format edge-list --rows 3 --cols 3
says "mac-edges.txt:1: $expected"
expect 3 csr-import mac-tiny.mtx no.csr --longest-line 64
says "$expected"
gzip mac-tiny.mtx
expect 3 csr-import mac-tiny.mtx.gz no.csr --longest-line 64
says "mac-tiny.mtx.gz:1: $expected"
expect 3 sh -c 'csr-import - no.csr <mac-edges.txt'
says "${expected#*, }"
expect 3 sh -c 'tr "\n" "\r" <tiny.mtx | csr-import - no.csr'
says "/dev/stdin:1: $expected"
# Among other line ends: an edge would have been lost behind the comment.
printf '# edges\r0 1\n1 2\n' >comment.txt
expect 3 csr-import comment.txt no.csr
says "comment.txt:1: $expected"
printf '0 1\n1 2\r2 0\n' >middle.txt
expect 3 csr-import middle.txt no.csr
says "middle.txt:2: $expected"
printf '0 1\n# c\r1 2\n2 0\n' >later.txt
expect 3 csr-import later.txt no.csr
says "later.txt:2: $expected"
printf '3 2\n2\n1\r3\n2\n' >middle.graph
expect 3 csr-import middle.graph no.csr --format metis-graph
says "middle.graph:3: $expected"
no_file no.csr
