# shellcheck shell=bash
# Small files that want all memory or time are refused, in little of either.
python3 - <<'END'
import bz2, gzip, io, lzma, struct, tarfile, warnings, zipfile, zlib
head = b"%%MatrixMarket matrix coordinate real general\n3 3 1\n"
megabyte = bytes(1 << 20)
stacked = head + 8 * megabyte
for _ in range(4):
    stacked = gzip.compress(stacked, mtime=0)
open("stacked.mtx.gz", "wb").write(stacked)
deep = head
for _ in range(30):
    deep = gzip.compress(deep, mtime=0)
open("deep.mtx.gz", "wb").write(deep)
for name, compressor in (("line.mtx.bz2", bz2.BZ2Compressor()), ("line.mtx.xz", lzma.LZMACompressor())):
    with open(name, "wb") as file:
        file.write(compressor.compress(head))
        for _ in range(400):
            file.write(compressor.compress(megabyte))
        file.write(compressor.flush())
# Lines that are right, and many: 300 MB in a kilobyte.
compressor = bz2.BZ2Compressor()
with open("lines.mtx.bz2", "wb") as file:
    file.write(compressor.compress(b"%%MatrixMarket matrix coordinate real general\n"))
    comment = b"%" + b" " * 1022 + b"\n"
    for _ in range(300):
        file.write(compressor.compress(comment * 1024))
    file.write(compressor.flush())
with tarfile.open("skipped.tar.bz2", "w:bz2") as archive:
    member = tarfile.TarInfo("big")
    member.size = 400 << 20
    archive.addfile(member, io.BytesIO(bytes(member.size)))
# Headers without an end, under one more layer: a name in that of gzip, and the map of a sparse file.
def blocks(name, head, block):
    with open(name, "wb") as file:
        file.write(bz2.compress(head) + bz2.compress(block * 10) * 150)
gzip_head = b"\x1f\x8b\x08\x08" + bytes(5) + b"\x03"
for name in ("name.mtx.bz2", "name.tar.bz2"):
    blocks(name, gzip_head, b"a" * (1 << 20))
with open("name.mtx.xz", "wb") as file:
    file.write(lzma.compress(gzip_head) + lzma.compress(b"a" * (10 << 20)) * 150)
def tar_head(name, size, kind):
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)
records = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n23 GNU.sparse.name=a.mtx\n31 GNU.sparse.realsize=4000000\n"
blocks("map.tar.bz2", tar_head("PaxHeaders/a", len(records), b"x") + records.ljust(512, b"\0") +
       tar_head("GNUSparseFile.0/a.mtx", 1400 << 20, b"0") + b"90000000\n", b"0\n1\n" * (1 << 18))
blocks("vertices.graph.bz2", b"2000000000 1\n", b"\n" * (1 << 20))
blocks("edges.graph.bz2", b"5 999999999999999999\n", b"\n" * (1 << 20))
# A hundred bytes whose header asks for a dictionary of 3 GB: the size is in the first block's header, under a CRC.
asking = bytearray(lzma.compress(head + b"1 1 1\n"))
block = bytearray(asking[12:12 + asking[12] * 4])
block[block.index(0x21) + 2] = 39
asking[12:12 + len(block) + 4] = block + struct.pack("<I", zlib.crc32(block))
open("asking.mtx.xz", "wb").write(asking)
# An archive in an archive, with a member to skip that says nothing of its size: 40 GB.
packer = zlib.compressobj(9, zlib.DEFLATED, -15)
skipped = packer.compress(10 * megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
inner = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 8, 8, 0, 0, 0, 0, 0, 8, 0) + b"skip.npy" + skipped * 4000
with zipfile.ZipFile("within.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("arxiv/raw/data.npz", inner)
with zipfile.ZipFile("twice.npz", "w") as archive, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for _ in range(2):
        archive.writestr("shape.npy", b"x")
# A hole of 64 GB behind a header.
with open("hole.mtx", "wb") as file:
    file.write(head)
    file.truncate(64 << 30)
END
# 164 bytes that inflate to themselves, and 164 that inflate to themselves twice: there is no last layer.
python3 "$CLI_FOLDER/gzip_quine.py" 1 itself.mtx.gz
python3 "$CLI_FOLDER/gzip_quine.py" 2 itself_twice.mtx.gz
python3 - <<'END'
import zipfile
for name in ("itself", "itself_twice"):
    with zipfile.ZipFile(name + ".zip", "w") as archive:
        archive.write(name + ".mtx.gz", "edges.csv.gz")
END
printf '%%%%MatrixMarket matrix coordinate pattern general\n2147483647 1 1\n1 1\n' >rows.mtx
echo '0 2147483646' >rows.edges
mkdir hole && truncate -s 3G hole/hole.mtx && tar -cSf sparse.tar hole/hole.mtx && rm -r hole
# The better of three times: a machine with other work to do adds to all of them.
cat >measured.py <<'END'
import os, subprocess, sys
for _ in range(3):
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    if seconds <= 2 and megabytes <= 256:
        sys.exit(os.waitstatus_to_exitcode(status))
sys.exit(f"{seconds:.1f} s and {megabytes:.0f} MB")
END
for bomb in stacked.mtx.gz deep.mtx.gz line.mtx.bz2 line.mtx.xz lines.mtx.bz2 skipped.tar.bz2 sparse.tar hole.mtx \
  rows.mtx rows.edges itself.mtx.gz itself_twice.mtx.gz itself.zip itself_twice.zip name.mtx.bz2 name.tar.bz2 name.mtx.xz \
  map.tar.bz2 vertices.graph.bz2 edges.graph.bz2 within.zip; do
  expect 3 python3 measured.py csr-import "$bomb" out.csr
  says "$bomb"
  no_file out.csr
done
for file in itself.mtx.gz name.mtx.bz2 name.tar.bz2 name.mtx.xz; do
  expect 3 csr-import $file out.csr
  says "compressed several times"
done
expect 3 csr-import map.tar.bz2 out.csr
says "expected headers of at most"
expect 3 csr-import vertices.graph.bz2 out.csr
says "found 2000000000 rows of 2 entries"
# A line without an end, through a pipe.
expect 3 sh -c 'ulimit -v 1000000; (echo "%%MatrixMarket matrix coordinate real general"; yes | tr -d "\n") 2>pipe.err |
  timeout 60 csr-import - out.csr'
says "lines of at most"
no_file out.csr
# What is asked for and not there is a lack of memory, not an empty file.
expect 5 sh -c 'ulimit -v 1000000; exec csr-import asking.mtx.xz out.csr'
says "not enough memory to decompress"
no_file out.csr
expect 3 csr-import twice.npz out.csr
says "two called shape.npy"
# The limits can be raised, and lowered.
printf '%%%%MatrixMarket matrix coordinate real general\n%% a comment of more than 40 bytes, which is long\n1 1 1\n1 1 2\n' >long.mtx
expect 0 csr-import long.mtx out.csr
rm out.csr
expect 3 csr-import long.mtx out.csr --longest-line 40
says "with a larger --longest-line"
expect 3 csr-import lines.mtx.bz2 out.csr
says "raise --max-expansion"
expect 3 csr-import lines.mtx.bz2 out.csr --max-expansion 10000000
says "lines.mtx.bz2:"
if grep -q expansion err; then fail "the limit was not raised"; fi
# Columns without entries cost nothing: csr-info looks at a matrix of 2^31 - 1 in little memory, too.
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2147483647 3\n1 1\n1 2147483647\n2 9\n' >wide.mtx
expect 0 csr-import wide.mtx wide.csr
(ulimit -v 1000000 && csr-info wide.csr --locality >out) || fail "csr-info wants a number for every column"
prints "2,147,483,647"
# Rows do: those that --transpose would make of columns are counted before.
expect 3 csr-import wide.mtx none.csr --transpose
says "error: wide.mtx: transposed: expected about as many rows as entries, found 2147483647 rows of 3 entries"
no_file none
