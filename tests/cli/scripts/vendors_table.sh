# shellcheck shell=bash
# The tables of a CPU against vendors: measured with a kernel that every build has, under a vendor's name.
csr-import "$DATASETS/karate.mtx" karate.csr --values=random --quiet
csr-bench karate.csr -k 4,8 --kernels cpu.auto,cpu.row_loop,cpu.gather_mark --repeat 6 --check --records all.jsonl --quiet
sed 's/cpu.spmm.row_loop/cpu.spmm.vendor_mkl/' all.jsonl >real.jsonl
script=$CLI_FOLDER/../../run_scripts/pages/vendors_table.py
expect 0 "$script" real=real.jsonl
prints "| matrix | set | nnz | K | value kind | caches | csrkit ms | MKL ms | speed-up | interval | best vendor | share of the gather mark |"
equals "$(grep -cE '^\| karate \| real \| 156 \| [48] \| as stored \| warm \| [0-9.e-]+ \| [0-9.e-]+ \| [0-9.]+ \| [0-9.]+\.\.[0-9.]+( level)? \| MKL \| [0-9.]+ \|$' out)" 2
# Without a vendor there is no speed-up; what was not checked is named.
grep -v vendor_mkl real.jsonl >alone.jsonl
expect 0 "$script" alone.jsonl
equals "$(grep -c '^| karate | all | 156 | . | as stored | warm | .* | - | - | - | ' out)" 2
sed 's/"passed":true/"passed":false/' real.jsonl >wrong.jsonl
expect 1 "$script" wrong.jsonl
expect 1 "$script" real.jsonl --ours cpu.spmv.auto
