# shellcheck shell=bash
# Every script says what it does, refuses what it does not know, is run by a case or a test, and has its place in the
# page of its folder.
scripts=$CLI_FOLDER/../../run_scripts
python=$(python_with numpy matplotlib.font_manager) || python=
mapfile -t all < <(find "$scripts" -name '*.sh' -o -name '*.py')
for script in "${all[@]}"; do
  grep -qF "\`$(basename "$script")\`" "$scripts/README.md" || fail "run_scripts/README.md does not name $script"
  if [ ! -x "$script" ]; then continue; fi # sourced or imported by the others
  name=$(basename "$script")
  run=("$script")
  if grep -qE '^ *import (numpy|matplotlib)' "$script"; then
    # Help needs none of the modules.
    expect 0 python3 -S -E "$script" --help
    if [ -z "$python" ]; then continue; fi
    run=("$python" "$script")
  fi
  expect 0 "${run[@]}" --help
  silent err
  grep -qi "usage: *$name" out || { cat out >&2; fail "$name --help shows no usage"; }
  expect 2 "${run[@]}" --no-such-option
  silent out
  grep -qF "$name" err || { cat err >&2; fail "$name does not say who refuses"; }
  grep -rqF "$name" "$CLI_FOLDER/scripts" --include='*.sh' --exclude=help.sh ||
    fail "no case in tests/cli/scripts speaks of $name"
done
