# shellcheck shell=bash
# Without a GPU the tool says so and exits with 6, before it reads anything.
code=0
csr-sddmm-gpu nowhere.csr >out 2>err || code=$?
if [ "$code" -eq 4 ]; then
  echo "there is a GPU here"
  exit 6
fi
equals "$code" 6
says "GPU"
silent out
# Options are looked at first, whatever is missing.
expect 2 csr-sddmm-gpu nowhere.csr --repeat 0
says "--repeat"
