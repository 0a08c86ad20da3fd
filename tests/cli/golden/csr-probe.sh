# shellcheck shell=bash
# What csr-probe says, word for word.
HIDE=$(csr-probe --list | sed -n 's/.*process may use: //p') # the processor's name
export HIDE DROP=^gpu
show csr-probe --device cpu --seconds 1 --max-table 1M --max-spread 100000 -k 32 --threads 1 --output here.json
show cat here.json
show csr-probe --device cpu --seconds 1 --max-table 1M --max-spread 100000 -k 32 --threads 1 --output here.json --force --json
show csr-probe --list
show csr-probe --device abacus --output here.json --force
