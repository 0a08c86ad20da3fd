# shellcheck shell=bash
# What csr-probe says, word for word.
HIDE=$(csr-probe --list | sed -n 's/.*process may use: //p') # the processor's name
export HIDE DROP=^gpu
show csr-probe --device cpu --seconds 1 --max-table 1M -k 32 --output here.json
show cat here.json
show csr-probe --device cpu --seconds 1 --max-table 1M -k 32 --output here.json --json
show csr-probe --list
show csr-probe --device abacus --output here.json
