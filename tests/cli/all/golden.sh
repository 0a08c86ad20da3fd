# shellcheck shell=bash
# golden/ has the text and the JSON that every tool prints.
for tool in $(all_tools); do
  grep -qhE "^show $tool .*--json" "$CLI_FOLDER/golden/$tool"*.sh || fail "golden/ has no JSON of $tool"
  grep -hE "^show $tool " "$CLI_FOLDER/golden/$tool"*.sh | grep -vqE -- '--(json|list)' ||
    fail "golden/ has no report of $tool"
done
