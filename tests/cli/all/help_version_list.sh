# shellcheck shell=bash
# --help, --version and --list need no file and no GPU, and go to stdout.
for tool in $(all_tools); do
  for option in --help -h --version; do
    expect 0 "$tool" "$option"
    silent err
    prints "$tool"
  done
  expect 0 "$tool" --help
  prints "usage: $tool"
  prints "examples:"
  prints "exit codes:"
  expect 0 "$tool" --version
  prints "compiler:"
  prints "CUDA:"
  prints "METIS:"
done
for tool in $(all_tools); do
  case $tool in
    csr-info | csr-density) continue ;; # have nothing to choose from
    csr-partition) continue ;;          # its five methods stand in its help
    *-gpu) has_gpu_code || { expect 6 "$tool" --list && says "this build has no GPU code" && continue; } ;;
  esac
  expect 0 "$tool" --list
  silent err
  [ -s out ] || fail "$tool --list prints nothing"
  expect 0 "$tool" --list --json
  python3 -c 'import json; assert json.load(open("out"))["schema"] == 1'
done
