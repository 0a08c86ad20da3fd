#!/usr/bin/env bash
# Downloads the libraries that csrkit is built from and unpacks them into a folder: for users of
# Debian or Ubuntu without root. Compiler, CMake and Ninja must be there already.
#
# Usage: unpack_dependencies.sh FOLDER
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/messages.sh"
(($# == 1)) || die 2 "needs one folder; --help explains"
case $1 in -*) unknown "$1" ;; esac
mkdir -p "$1"
folder=$(cd "$1" && pwd)

libraries=(libcxxopts-dev libspdlog-dev libmetis-dev nlohmann-json3-dev libxxhash-dev libarchive-dev
           zlib1g-dev libisal-dev libfast-float-dev libgtest-dev librapidcheck-dev)
# A simulated installation needs no root and names exactly what this system lacks.
simulated=$(apt-get install --simulate --no-install-recommends "${libraries[@]}") ||
  die 4 "apt-get cannot say what is missing, as it says above; where its lists are old or empty, 'apt-get update' (by root) fetches them"
mapfile -t missing < <(awk '/^Inst / { print $2 }' <<<"$simulated")
if ((${#missing[@]} == 0)); then
  echo "Everything needed is installed; nothing to unpack."
  exit 0
fi

mkdir -p "$folder/packages"
(cd "$folder/packages" && apt-get download -qq "${missing[@]}")
for package in "$folder"/packages/*.deb; do
  dpkg -x "$package" "$folder"
done
# A -dev package links to a shared library that may be on the system already, and so was not unpacked.
find "$folder/usr/lib" -xtype l | while read -r link; do
  target=$(readlink "$link")
  system=${link#"$folder"}
  system=${system%/*}/${target##*/}
  if [[ -e $system ]]; then ln -sf "$system" "$link"; fi
done
cat <<MESSAGE
Unpacked ${#missing[@]} packages into $folder. Now:
  export CMAKE_PREFIX_PATH=$folder/usr LD_LIBRARY_PATH=$folder/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
  ./run_scripts/quickstart.sh --no-install
MESSAGE
