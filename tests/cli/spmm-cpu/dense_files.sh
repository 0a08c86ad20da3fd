# shellcheck shell=bash
# B comes from a .npy file, C goes to one; the same seed gives the same C.
tiny_mtx >tiny.mtx
csr-import tiny.mtx tiny.csr --value-kind f32 --quiet
csr-spmm-cpu tiny.csr -k 3 --seed 5 --repeat 1 --check --output one.npy --quiet
csr-spmm-cpu tiny.csr -k 3 --seed 5 --repeat 1 --check=full --output two.npy --threads 1 --quiet
cmp one.npy two.npy
# C is 4 x 3, as B is: the product of the product.
csr-spmm-cpu tiny.csr -k 3 --input one.npy --output three.npy --repeat 1 --check --quiet
# Without -k the file says K.
expect 0 csr-spmm-cpu tiny.csr --input one.npy --output unsaid.npy --repeat 1 --json
equals "$(json dense_cols)" 3
cmp unsaid.npy three.npy
expect 0 csr-spmm-dist tiny.csr --input one.npy --output ranks.npy --repeat 1 --json
equals "$(json dense_cols)" 3
python3 - <<'END'
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 0), }"
header += " " * (117 - len(header)) + "\n"
open("narrow.npy", "wb").write(b"\x93NUMPY\x01\x00v\x00" + header.encode())
END
expect 3 csr-spmm-cpu tiny.csr --input narrow.npy
says "narrow.npy: expected an array of 1 column or more, found none"
if cmp -s one.npy three.npy; then fail "--input was not read"; fi
expect 3 csr-spmm-cpu tiny.csr -k 4 --input one.npy --output four.npy
says "one.npy"
no_file four.npy
csr-import tiny.mtx double.csr --value-kind f64 --quiet
expect 3 csr-spmm-cpu double.csr -k 3 --input one.npy
says "--dense-kind"
expect 0 csr-spmm-cpu double.csr -k 3 --input one.npy --dense-kind f64 --repeat 1 --check --output wide.npy
# A matrix without values takes an array as it is.
csr-import tiny.mtx ones.csr --value-kind none --quiet
expect 0 csr-spmm-cpu ones.csr --input wide.npy --repeat 1 --check=full --json
equals "$(json kinds.b)" f64
equals "$(json kinds.c)" f64
expect 0 csr-spmm-cpu ones.csr --input wide.npy --dense-kind f32 --repeat 1 --json
equals "$(json kinds.b)" f32
expect 0 csr-sddmm-cpu ones.csr --input-y wide.npy --repeat 1 --check=full --json
equals "$(json kinds.b)" f64
expect 0 csr-spmm-dist ones.csr --ranks 2 --input wide.npy --repeat 1 --check --output wide2.npy
expect 0 csr-spmm-cpu ones.csr --input wide.npy --repeat 1 --output wide1.npy
cmp wide1.npy wide2.npy
expect 3 csr-spmm-cpu tiny.csr -k 3 --input tiny.mtx
