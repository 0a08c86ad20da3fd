#!/usr/bin/env bash
# Fetches originals of datasets/catalog.tsv on a machine with a network, for run_scripts/prepare.sh --raw.
# Asks nothing; goes on where it was interrupted; keeps nothing whose checksum is wrong.
#
# Usage: fetch.sh --to DIR [--catalog FILE] NAME...
#   NAME            of the catalogue, or one of its sets for all of that set: mission, suitesparse
#   --to DIR        DIR/<name>/ gets the unpacked original, DIR/archives/ the downloads
#   --catalog FILE  another catalogue of the same columns
#
# Where the catalogue has a SHA-256 (of the download), it must match. Where it has none, the checksum of
# the first download is kept in DIR/archives/SHA256SUMS and later downloads must match that; compare it
# with somebody else's before you trust it. What needs a hand (a form, a browser) is said, not tried.
set -euo pipefail
export LC_ALL=C

here=$(dirname "$(realpath "$0")")
to='' catalog=$here/catalog.tsv names=()
say() { printf 'fetch.sh: %s\n' "$*" >&2; }
needs_value() {
  [[ $# -ge 2 && -n $2 ]] || { say "error: $1 needs a value; --help shows the options"; exit 2; }
}
while (($#)); do
  case $1 in
    --to) needs_value "$@"; to=$2; shift 2 ;;
    --catalog) needs_value "$@"; catalog=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set -/{/^set -/d; s/^# \{0,1\}//p}' "$0"; exit ;;
    -*) say "error: unknown option '$1'; --help shows the options"; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done
if [[ -z $to || ${#names[@]} -eq 0 ]]; then
  say "error: needs --to DIR and a name; --help explains"
  exit 2
fi

if [[ ! -r $catalog ]]; then
  say "error: cannot read the catalogue $catalog"
  exit 4
fi

field() { # field NAME COLUMN
  awk -F'\t' -v name="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
    $1 == name { print $at; exit }' "$catalog"
}
members() { # members SET
  awk -F'\t' -v set="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "set") at = i; next }
    $at == set { print $1 }' "$catalog"
}
wanted=()
for name in "${names[@]}"; do
  mapfile -t of_set < <(members "$name")
  if ((${#of_set[@]})); then wanted+=("${of_set[@]}"); else wanted+=("$name"); fi
done
names=("${wanted[@]}")
mkdir -p "$to/archives"
sums=$to/archives/SHA256SUMS
touch "$sums"

extract() { # extract ARCHIVE FOLDER
  case $1 in
    *.zip) python3 -m zipfile -e "$1" "$2" ;;
    *.tgz | *.tar.gz) tar -xzf "$1" -C "$2" ;;
    *) ln "$1" "$2/" 2>/dev/null || cp "$1" "$2/" ;; # read compressed
  esac
}

# Every step is asked for its result: this is called in a condition, where bash does not stop at errors.
unpack() { # unpack ARCHIVE FOLDER: under the final name only when whole
  local scratch=$2.tmp.$$
  rm -rf "$scratch"
  if mkdir -p "$scratch" && extract "$1" "$scratch" && rm -rf "$2" && mv "$scratch" "$2"; then return; fi
  rm -rf "$scratch"
  return 1
}

download() { # download URL FILE: goes on with what is there, or begins again where the server cannot
  local code=0
  curl --fail --location --silent --show-error --retry 5 --retry-delay 2 --continue-at - --output "$2" "$1" || code=$?
  if ((code == 33 || code == 36)); then # no ranges here
    rm -f "$2"
    code=0
    curl --fail --location --silent --show-error --retry 5 --retry-delay 2 --output "$2" "$1" || code=$?
  fi
  return "$code"
}

fetch() { # fetch NAME
  local name=$1 url archive expected known found
  url=$(field "$name" source)
  [[ -n $url ]] || { say "error: '$name' is not in $catalog"; return 2; }
  if [[ $(field "$name" file) != - ]]; then say "$name: shipped with csrkit"; return; fi
  if [[ $url != *://* || $url == *' '* ]]; then say "$name: cannot be fetched by a script: $url"; return 4; fi
  archive=$to/archives/$name-$(basename "$url")
  expected=$(field "$name" sha256)
  known=$(awk -v file="$(basename "$archive")" '$2 == file { print $1 }' "$sums")
  if [[ $expected == - ]]; then expected=$known; fi
  if [[ ! -f $archive ]]; then
    download "$url" "$archive.part" || { say "error: $name: $url: the download failed; the same command goes on"; return 4; }
    mv "$archive.part" "$archive"
  fi
  found=$(sha256sum <"$archive")
  found=${found%% *}
  if [[ -n $expected && $found != "$expected" ]]; then
    mv "$archive" "$archive.wrong"
    say "error: $name: SHA-256 is $found, expected $expected; kept as $archive.wrong"
    return 3
  fi
  if [[ -f $to/$name/.unpacked && $(cat "$to/$name/.unpacked") == "$found" ]]; then say "$name: complete"; return; fi
  unpack "$archive" "$to/$name" || {
    say "error: $name: cannot unpack $archive; if it is damaged, remove it, and the same command fetches it again"
    return 3
  }
  # Only now: what cannot be unpacked, an error page perhaps, is nothing that later downloads must match.
  if [[ -z $known ]]; then echo "$found  $(basename "$archive")" >>"$sums"; fi
  echo "$found" >"$to/$name/.unpacked"
  say "$name: fetched, SHA-256 $found$([[ -n $expected ]] || echo ' (first seen: nobody else vouches for it)')"
}

worst=0
for name in "${names[@]}"; do
  code=0
  fetch "$name" || code=$?
  if ((code > worst)); then worst=$code; fi
done
exit "$worst"
