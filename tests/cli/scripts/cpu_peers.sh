# shellcheck shell=bash
# The drivers behind the CPU tables, dry: a matrix of a few rows, few repetitions.
csr-import "$DATASETS/karate.mtx" karate.csr --quiet
csr-import "$DATASETS/cora.mtx.gz" cora.csr --quiet
bin=$(dirname "$(command -v csr-bench)")
scripts=$CLI_FOLDER/../../run_scripts
peers=(python3 "$scripts/cpu_peers.py" --bin "$bin" --out records --repeat 2 --no-torch -k 8)
expect 0 "${peers[@]}" --threads 2 --naive karate.csr cora.csr
prints "serial reference"
expect 0 "${peers[@]}" --side-by-side 2 karate.csr cora.csr
expect 0 "${peers[@]}" --spgemm --threads 2 cora.csr
prints "hash_rows"
expect 0 "${peers[@]}" --spgemm --threads 1,2,3 cora.csr
prints "of 3 |"
# What is there is not measured again, and the tables need the records alone.
before=$(cat records/records*.jsonl | wc -l)
expect 0 "${peers[@]}" --threads 2 karate.csr cora.csr
equals "$(cat records/records*.jsonl | wc -l)" "$before"
expect 0 python3 "$scripts/cpu_peers.py" --table records
prints "| cora | 8 |"
expect 0 python3 "$scripts/schedule_study.py" --bin "$bin" --threads 2 -k 8 --repeat 1 --rungs row_parallel karate.csr
prints "dynamic 64"
