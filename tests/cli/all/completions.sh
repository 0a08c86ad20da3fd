# shellcheck shell=bash
# Man pages and completions are installed for every tool, name every option of its --help, and work in the
# shells that are here.
share=$(cd "$(dirname "$(command -v csr-bench)")/../share" && pwd)
for tool in $(all_tools); do
  bash_file=$share/bash-completion/completions/$tool zsh_file=$share/zsh/site-functions/_$tool
  fish_file=$share/fish/vendor_completions.d/$tool.fish page=$share/man/man1/$tool.1
  for file in "$bash_file" "$zsh_file" "$fish_file" "$page"; do [ -s "$file" ] || fail "$file is not installed"; done
  "$tool" --help | grep -oE '^ {2,6}(-[a-z], )?--[a-z-]+' | sed 's/.*--//' >options
  [ "$(wc -l <options)" -ge 5 ] || fail "the options of $tool were not found"
  while read -r option; do
    grep -q -- "--${option}[ \"]" "$bash_file" || fail "bash: no --$option of $tool"
    grep -q -- "'--${option}[=[]" "$zsh_file" || fail "zsh: no --$option of $tool"
    grep -q -- "-l $option " "$fish_file" || fail "fish: no --$option of $tool"
    grep -qF -- "\\-\\-${option//-/\\-}" "$page" || fail "man: no --$option of $tool"
  done <options
  if command -v zsh >/dev/null; then expect 0 zsh -n "$zsh_file"; fi
  if command -v fish >/dev/null; then expect 0 fish --no-config -n "$fish_file"; fi
  if command -v groff >/dev/null; then
    expect 0 groff -man -Tascii -P-cbou -ww "$page"
    silent err
    prints "EXIT STATUS"
  fi
done

# What Tab offers in bash for the words of a line; '=' is a word of its own there.
offers() { # offers EXPECTED WORD...
  local expected=$1 tool=$2
  shift
  # shellcheck disable=SC1090
  source "$share/bash-completion/completions/$tool"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_${tool//-/_}"
  equals "${COMPREPLY[*]}" "$expected"
}
touch one.csr other.mtx
offers "--symmetrize" csr-import a.mtx --sym
offers "--self-loops --seed" csr-import --se
offers "add drop" csr-import --self-loops ""
offers "drop" csr-import --self-loops = d
offers "add drop" csr-import --self-loops =
offers "matrix-market metis-graph" csr-import --format m
offers "random rcm row-similarity" csr-reorder --method r
offers "one.csr" csr-info one
offers "" csr-spmm-cpu -k ""
offers "one.csr" csr-import other.mtx one
if command -v fish >/dev/null; then
  expect 0 fish --no-config -c "source $share/fish/vendor_completions.d/csr-reorder.fish; complete -C 'csr-reorder --method r'"
  equals "$(cut -f1 out | tr '\n' ' ')" "random rcm row-similarity "
  expect 0 fish --no-config -c "source $share/fish/vendor_completions.d/csr-import.fish; complete -C 'csr-import --self-loops '"
  equals "$(cut -f1 out | tr '\n' ' ')" "add drop "
fi
