# shellcheck shell=bash
# How the scripts speak: --help, messages and exit codes; sourced, never run.

script=$(basename "$0") script_file=$(realpath "$0")
say() { printf '%s: %s\n' "$script" "$*" >&2; }
die() { # die CODE MESSAGE...
  local code=$1
  shift
  say "error: $*"
  exit "$code"
}
needs_value() { [[ $# -ge 2 && -n $2 ]] || die 2 "$1 needs a value; --help shows the options"; }

# unknown ARGUMENT: --help prints the comment at the head of the script, all else is refused.
unknown() {
  case $1 in
    -h | --help) sed -n '2,/^set -/{/^# shellcheck/d; s/^# \{0,1\}//p}' "$script_file"; exit 0 ;;
    *) die 2 "unknown argument '$1'; --help shows the options" ;;
  esac
}
