# shellcheck shell=bash
# docs/tools/<tool>.md holds the --help text as it is. A build without GPU code does not know which of its kernels
# have variants.
for tool in $(all_tools); do
  page=$CLI_FOLDER/../../docs/tools/$tool.md
  [ -f "$page" ] || fail "there is no page about $tool"
  unknown='^$^'
  case $tool in *-gpu) if ! has_gpu_code; then unknown='--variant VARIANT'; fi ;; esac
  "$tool" --help | sed 's/^\(.\)/    \1/' | sed "/$unknown/d" >help
  sed -n '/^## Options$/,$p' "$page" | tail -n +3 | sed "/$unknown/d" | sed -n "1,$(wc -l <help)p" >documented
  diff -u documented help >&2 || fail "the options in docs/tools/$tool.md are not those of --help"
done
