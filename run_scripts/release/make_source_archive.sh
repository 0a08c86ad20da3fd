#!/usr/bin/env bash
# The sources of a commit as an archive that builds alone: csrkit-<version>.tar.gz, the same bytes every time. --version
# of what is built from it names the commit.
#
# Usage: make_source_archive.sh [--force] OUTPUT_FOLDER [COMMIT]
#   --force  replace the archive that is there
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/../messages.sh"

force=no words=()
while (($#)); do
  case $1 in
    --force) force=yes; shift ;;
    -*) unknown "$1" ;;
    *) words+=("$1"); shift ;;
  esac
done
((${#words[@]} == 1 || ${#words[@]} == 2)) || die 2 "needs OUTPUT_FOLDER, and takes a commit; --help shows the options"
commit=${words[1]:-HEAD}
root=$(realpath "$(dirname "$(realpath "$0")")/../..")
git -C "$root" rev-parse --quiet --verify "$commit^{commit}" >/dev/null ||
  die 2 "$commit is no commit of $root; archives are made from a git checkout"
version=$(git -C "$root" show "$commit:CMakeLists.txt" | sed -n 's/^project(csrkit VERSION \([0-9.]*\).*/\1/p')
archive=${words[0]}/csrkit-$version.tar.gz
[[ $force == yes || ! -e $archive ]] || die 2 "$archive exists already; --force replaces it"
mkdir -p "${words[0]}"
trap 'rm -f "$archive.tmp.$$"' EXIT
git -C "$root" archive --prefix="csrkit-$version/" "$commit" | gzip -n >"$archive.tmp.$$"
mv "$archive.tmp.$$" "$archive"
echo "$archive ($(du -k "$archive" | cut -f1) KiB)"
