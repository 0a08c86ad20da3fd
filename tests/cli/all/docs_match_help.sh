# shellcheck shell=bash
# docs/tools/<tool>.md holds the --help text as it is.
for tool in $(all_tools); do
  page=$CLI_FOLDER/../../docs/tools/$tool.md
  [ -f "$page" ] || fail "there is no page about $tool"
  "$tool" --help | sed 's/^\(.\)/    \1/' >help
  sed -n '/^## Options$/,$p' "$page" | tail -n +3 | sed -n "1,$(wc -l <help)p" >documented
  diff -u documented help >&2 || fail "the options in docs/tools/$tool.md are not those of --help"
done
