#!/usr/bin/env bash
# Makes data sets ready for measurements: imports (or generates a stand-in), reorders and verifies into
# a cache folder. Files that are complete are not made again; any number of these may run at once.
# An order that fails does not stop the others: <name>.<order>.problem says why it failed and what mends it.
#
# Usage: prepare.sh --cache DIR [options] DATASET...
#   DATASET         a name of datasets/catalog.tsv, a set of it (shipped, mission, suitesparse), or the path, with a '/',
#                   of any file or folder that csr-import reads
#   --cache DIR     where <name>.csr, <name>.<order>.csr and reports of the orders go
#   --raw DIR       where datasets/fetch.sh put the originals (DIR/<name>/...)
#   --like          generate stand-ins of published size for data sets that are neither shipped nor named by a path
#   --scale X       with --like: make stand-ins of X times the published size
#   --orders LIST   orders to make, e.g. degree,community (default: none)
#   --order-time S  most seconds for one order; one that takes longer is left out, with a warning
#   --max-nnz N     leave out METIS orders of matrices with more nonzeros (default: 20000000)
#   --tools DIR     where the tools are (default: the PATH, or a build folder)
# shellcheck disable=SC2317 # attempt calls functions by name
set -euo pipefail
# shellcheck source=run_scripts/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

# shellcheck disable=SC2034 # options are set and read by name
cache='' raw='' like=no scale='' orders='' order_time='' max_nnz=20000000 tools='' names=()
while (($#)); do
  case $1 in
    --cache | --raw | --scale | --orders | --order-time | --max-nnz | --tools)
      needs_value "$@"
      option=${1#--}
      printf -v "${option//-/_}" %s "$2"
      shift 2
      ;;
    --like) like=yes; shift ;;
    -*) unknown "$1" ;;
    *) names+=("$1"); shift ;;
  esac
done
[[ -n $cache && ${#names[@]} -gt 0 ]] || die 2 "needs --cache DIR and a data set; --help shows the options"
check_prepare_options
find_tools
# The same inputs give the same bytes, so that --resume recognises a cache that was made again: files hold no times
# in their history, and name each other relative to the cache.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
mapfile -t names < <(expand_datasets "${names[@]}")
check_datasets "${names[@]}"
mkdir -p "$cache" || die 4 "--cache needs a folder that can be made and written"
# The line that mends a gap is to be pasted into a shell.
again=$(printf '%q --cache %q' "$script_file" "$cache")${raw:+$(printf ' --raw %q' "$raw")}${scale:+ --scale $scale}
if [[ $like == yes ]]; then again+=" --like"; fi

# complete FILE RECIPE: whether the file is whole and was made by this recipe.
complete() {
  [[ -f $1 && -f $1.made && $(cat "$1.made") == "$2"$'\n'"$(head -c 4096 "$1" | sha256sum)" ]] &&
    csr-info "$1" --verify --quiet
}

# The header holds the checksum of all checksums: with --verify, it stands for the file.
record() { # record FILE RECIPE
  printf '%s\n%s\n' "$2" "$(head -c 4096 "$1" | sha256sum)" >"$1.made.tmp.$$"
  mv "$1.made.tmp.$$" "$1.made"
}

source_of() { # the file or folder that NAME|PATH is imported from
  local name=$1 file member
  if [[ $name == */* ]]; then
    echo "$name"
    return
  fi
  file=$(catalog_field "$name" file)
  if [[ -n $file ]]; then
    echo "$datasets/$file"
    return
  fi
  member=$(catalog_field "$name" member)
  [[ -n $raw ]] || die 2 "$name is not shipped: give --raw DIR with the original, or --like for a stand-in"
  [[ -e $raw/$name/$member ]] || die 3 "$raw/$name/$member does not exist; datasets/fetch.sh --to $raw $name fetches it"
  echo "$raw/$name/$member"
}

digest_of() { # of a file, or of all files of a folder
  if [[ -d $1 ]]; then
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | sha256sum
  else
    sha256sum <"$1"
  fi
}

make_matrix() { # make_matrix NAME|PATH
  local name target source recipe options words
  name=$(dataset_name "$1") target=$cache/$(dataset_name "$1").csr
  if [[ $like == yes && $1 != */* && -z $(catalog_field "$1" file) ]]; then
    recipe="csr-generate --like $name scale=${scale:-1} seed=1"
    complete "$target" "$recipe" && { say "$name: complete"; return; }
    env -C "$cache" csr-generate --like "$name" "$name.csr" ${scale:+--set "scale=$scale"} --force --quiet
  else
    source=$(source_of "$1")
    options=$(catalog_field "$1" import_options)
    recipe="csr-import $options of $(digest_of "$source")"
    complete "$target" "$recipe" && { say "$name: complete"; return; }
    read -ra words <<<"$options"
    csr-import "$source" "$target" "${words[@]}" --force --quiet
  fi
  csr-info "$target" --verify --quiet
  record "$target" "$recipe"
  say "$name: made in $SECONDS s"
}

leave_out() { # leave_out NAME ORDER REASON MEND
  say "warning: $1.$2: left out, $3; $4"
  note_problem "$cache/$1.$2.problem" "$1" "$2" "$3" "$4"
}

make_order() { # make_order NAME ORDER: 124 after --order-time
  local name=$1 order=$2 source=$cache/$1.csr target=$cache/$1.$2.csr recipe report=${cache}/$1.$2.json
  recipe="csr-reorder $order of $(head -c 4096 "$source" | sha256sum)"
  [[ -s $report ]] && complete "$target" "$recipe" && { say "$name.$order: complete"; return; }
  local ended=0
  # In the foreground: a signal that ends this script also ends csr-reorder.
  timeout --foreground "${order_time:-0}" env -C "$cache" \
    csr-reorder "$name.csr" "$name.$order.csr" --method "$order" --force --json >"$report.tmp.$$" ||
    ended=$?
  if ((ended != 0)); then
    rm -f "$report.tmp.$$"
    return "$ended"
  fi
  mv "$report.tmp.$$" "$report"
  csr-info "$target" --verify --quiet
  record "$target" "$recipe"
  say "$name.$order: made, $SECONDS s since the start"
}

prepare_order() { # prepare_order NAME|PATH ORDER: makes it, or notes why not
  local name order=$2 nnz mend="$again --orders $2" source
  name=$(dataset_name "$1") source=$(printf %q "$1")
  nnz=$(csr-info "$cache/$name.csr" --header-only --json | sed -n 's/.*"nnz":\([0-9]*\).*/\1/p')
  if [[ $order == metis-* ]] && ((nnz > max_nnz)); then
    leave_out "$name" "$order" "$nnz nonzeros are more than $max_nnz (--max-nnz)" "$mend --max-nnz $nnz $source"
    return
  fi
  attempt make_order "$name" "$order"
  if ((code == 0)); then
    rm -f "$cache/$name.$order.problem"
  elif ((code == 124 || code == 143)) && [[ -n $order_time ]]; then
    leave_out "$name" "$order" "it took longer than $order_time s (--order-time)" "$mend --order-time MORE_SECONDS $source"
  else
    rm -f "$cache/$name.$order.csr" "$cache/$name.$order.csr.made"
    leave_out "$name" "$order" "$reason" "$mend${order_time:+ --order-time $order_time} $source"
  fi
}

prepare_matrix() { # prepare_matrix NAME|PATH: makes it, or notes why not; sets `code`
  local name member mend source
  name=$(dataset_name "$1") mend="$again $(printf %q "$1")"
  attempt make_matrix "$1"
  if ((code == 0)); then
    rm -f "$cache/$name.problem"
    return
  fi
  member=$(catalog_field "$1" member)
  if [[ $like == no && -n $member && ! -e ${raw:-.}/$name/$member ]]; then
    source=$(if [[ -n $raw ]]; then printf %q "$raw"; else echo RAW_FOLDER; fi)
    mend="$(printf %q "$(realpath "$datasets")")/fetch.sh --to $source $name, and then submit.sh --raw $source"
  fi
  note_problem "$cache/$name.problem" "$name" natural "$reason" "$mend"
}

lock_node --shared
worst=0
for name in "${names[@]}"; do
  # One process at a time for each data set: those that wait find it complete. The system releases the lock of a
  # process that was killed. On a file system without locks both make it, and the last rename wins.
  exec 9>"$cache/.$(dataset_name "$name").lock"
  flock 9 2>/dev/null || true
  prepare_matrix "$name"
  if ((code == 0)); then
    for order in ${orders//,/ }; do prepare_order "$name" "$order"; done
  else
    worst=$code
  fi
  exec 9>&-
done
exit "$worst"
