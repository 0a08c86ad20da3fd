# shellcheck shell=bash
# Without a GPU a tool says so and exits with 6, before it reads anything.
for tool in $(all_tools); do
  case $tool in *-gpu) ;; *) continue ;; esac
  code=0
  "$tool" nowhere.csr >out 2>err || code=$?
  if [ "$code" -eq 4 ]; then
    echo "there is a GPU here"
    exit 6
  fi
  equals "$tool: $code" "$tool: 6"
  says "GPU"
  silent out
  # Options are looked at first, whatever is missing.
  expect 2 "$tool" nowhere.csr --repeat 0
  says "--repeat"
  if has_gpu_code; then
    expect 2 "$tool" nowhere.csr --kernel nobodys
    says "there is no kernel 'nobodys'"
  fi
done
