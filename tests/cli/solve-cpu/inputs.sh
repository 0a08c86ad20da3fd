# shellcheck shell=bash
# Right-hand sides, guesses and dense matrices come from anyone: what is no array of the right shape
# ends in a sentence with the file's name, and writes nothing.
csr-generate poisson grid.csr --set nx=20 --value-kind f64 --quiet
array() { # array FILE DTYPE SHAPE [BYTES]: an .npy file whose elements are 1, cut to so many bytes
  python3 - "$@" <<'END'
import struct, sys
path, dtype, shape = sys.argv[1:4]
elements = 1
for word in shape.strip("(,)").split(","):
    elements *= int(word)
code = {"<f8": "d", "<f4": "f", "<f2": "e"}.get(dtype, "q")
size = struct.calcsize(code) * elements if len(sys.argv) < 5 else int(sys.argv[4])
data = (struct.pack("<" + code, 1) * (size // struct.calcsize(code) + 1))[:size]
header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, shape)
header += " " * (63 - (10 + len(header)) % 64) + "\n"
open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
END
}
refused() { # refused CODE FILE TEXT: as right-hand side and as guess
  for option in --rhs --guess; do
    expect "$1" timeout 20 csr-solve-cpu --force grid.csr $option "$2" --output x.npy
    says "$2"
    says "$3"
    no_file x.npy x.best.npy
  done
}
array short.npy '<f8' '(3, 1)'
refused 3 short.npy "expected columns of 400 rows"
array none.npy '<f8' '(400, 0)'
refused 3 none.npy "found an array of 400 x 0"
array cut.npy '<f8' '(400, 1)' 3192
refused 3 cut.npy "the file was cut or extended"
array huge.npy '<f8' '(400, 4000000000)' 8
refused 3 huge.npy "at most 2147483647"
array objects.npy '|O' '(400, 1)'
refused 3 objects.npy "they could run code"
{ printf '%%%%MatrixMarket matrix array real general\n400 1\n' && seq 400; } >b.mtx
head -n 300 b.mtx >cut.mtx
refused 3 cut.mtx "expected 400 entries"
{ cat b.mtx && echo 1; } >long.mtx
refused 3 long.mtx "at least 401"
sed 's/^200$/1e999/' b.mtx >range.mtx
refused 3 range.mtx "within the range of f64"
# 60 bytes may name any number of rows: they are no array before their number is right.
printf '%%%%MatrixMarket matrix coordinate real general\n2000000 1000000 1\n1 1 1\n' >wide.mtx
refused 3 wide.mtx "found an array of 2000000 x 1000000"
# Nor are they more than the memory holds.
printf '%%%%MatrixMarket matrix coordinate real general\n400 2000000000 1\n1 1 1\n' >many.mtx
expect 5 csr-solve-cpu grid.csr --rhs many.mtx --output x.npy
says "solve for fewer right-hand sides at once"
printf '%%%%MatrixMarket matrix coordinate real general\n2000000 2000000 0\n' >hole.mtx
csr-import hole.mtx hole.csr --quiet
for rhs in ones random from-solution; do
  expect 5 csr-solve-cpu hole.csr --rhs $rhs --right-hand-sides 1000000 --output x.npy
  says "holding the right-hand sides or solutions"
done
mkdir folder
refused 4 folder "folder"
refused 4 /dev/zero "pipe or device"
refused 4 nowhere.npy "No such file"
mkfifo pipe.npy pipe
refused 4 pipe.npy "pipe or device"
# Text is read from a pipe, too.
cat b.mtx >pipe &
expect 0 csr-solve-cpu grid.csr --rhs pipe --output from_pipe.npy
wait
expect 0 csr-solve-cpu grid.csr --rhs b.mtx --output from_file.npy
cmp from_pipe.npy from_file.npy
array ones.npy '<f4' '(400, 41)'
expect 0 csr-solve-cpu grid.csr --rhs ones.npy
expect 3 csr-solve-cpu grid.csr --rhs ones.npy --right-hand-sides 3
says "found 400 x 41"
# A NaN would be in every iterate.
sed 's/^200$/nan/' b.mtx >nan.mtx
refused 3 nan.mtx "nan.mtx: expected finite values, found nan in row 199, column 0 (counted from 0); correct the file"
# What f32 cannot hold would become one.
sed 's/^200$/-1e39/' b.mtx >large.mtx
for option in --rhs --guess; do
  expect 3 csr-solve-cpu grid.csr $option large.mtx --output x.npy --precision f32
  says "large.mtx: expected values that f32 can hold, found 1 value beyond the range of f32, the first -1e+39 in row 199"
  says "use --precision f64"
  no_file x.npy x.best.npy
done

# Dense matrices.
array half.npy '<f2' '(30, 30)'
expect 2 csr-solve-cpu half.npy
says "this matrix holds f16"
says "save it in one of them"
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.f16.csr --value-kind f16 --quiet
expect 2 csr-solve-cpu tiny.f16.csr
says "this matrix holds f16; import or generate it with --value-kind f32 or f64"
array oblong.npy '<f8' '(3, 4)'
expect 3 csr-solve-cpu oblong.npy
says "expected a square matrix, found 3 x 4"
array empty.npy '<f8' '(0, 0)'
expect 0 csr-solve-cpu --force empty.npy --output x.npy
expect 4 csr-solve-cpu pipe.npy
# Outputs: a full disk, a device, a folder, somebody's file.
rm -f x.npy
expect 4 sh -c 'ulimit -f 1; exec csr-solve-cpu grid.csr --rhs ones.npy --output x.npy'
says "cannot write 'x.npy'"
no_file x.npy
for output in /dev/full pipe folder no/folder/x.npy; do
  expect 4 csr-solve-cpu --force grid.csr --output "$output"
  says "cannot write '$output'"
done
ln -s /dev/full x.best.npy
expect 4 csr-solve-cpu --force grid.csr --iterations 1 --output x.npy
[ -L x.best.npy ] || fail "the link was replaced"
expect 5 csr-solve-cpu grid.csr --memory-limit 1K
says "--memory-limit"
# What is so small that its squares underflow would seem to be solved by 0.
for tiny in 1e-50:f32 1e-170:f64 1e-300:refined; do
  { printf '%%%%MatrixMarket matrix coordinate real general\n400 2 2\n1 1 1\n2 2 %s\n' "${tiny%:*}"; } >tiny.mtx
  expect 3 csr-solve-cpu grid.csr --rhs tiny.mtx --precision "${tiny#*:}" --output tiny.npy
  says "tiny.mtx: expected right-hand sides with values of at least"
  says "as the largest in column 1"
  no_file tiny.npy tiny.best.npy
done
printf '%%%%MatrixMarket matrix coordinate real general\n400 2 1\n1 1 1e-100\n' >small.mtx
expect 0 csr-solve-cpu grid.csr --rhs small.mtx # and the other column is 0
printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-200\n' >dot.mtx
csr-import dot.mtx dot.csr --quiet
expect 3 csr-solve-cpu dot.csr --rhs from-solution
says "dot.csr times a solution: expected right-hand sides"
# Names in capitals, as some systems write them, say what they say in small letters.
csr-solve-cpu grid.csr --output small.npy --quiet
cp small.npy CAPITAL.NPY
expect 0 csr-solve-cpu grid.csr --rhs CAPITAL.NPY --guess CAPITAL.NPY
expect 1 csr-solve-cpu grid.csr --iterations 1 --output OUT.NPY
equals "$(ls OUT*)" OUT.best.npy
