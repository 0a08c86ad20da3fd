#!/usr/bin/env bash
# Downloads the libraries that csrkit is built from and unpacks them into a folder: for users of
# Debian or Ubuntu without root. Compiler, CMake and Ninja must be there already.
#
# Usage: unpack_dependencies.sh FOLDER
set -euo pipefail
if (($# != 1)); then
  echo "usage: unpack_dependencies.sh FOLDER" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)

libraries=(libcxxopts-dev libspdlog-dev libmetis-dev nlohmann-json3-dev libxxhash-dev libarchive-dev
           libfast-float-dev libgtest-dev librapidcheck-dev)
# The shared libraries behind the -dev packages have version numbers in their names; ask apt.
mapfile -t runtime < <(apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances libspdlog-dev libmetis-dev libxxhash-dev libarchive-dev |
  sed -n 's/^ *Depends: *\(lib[a-z0-9.+-]*\)$/\1/p' | sort -u)

mkdir -p "$folder/packages"
(cd "$folder/packages" && apt-get download -qq "${libraries[@]}" "${runtime[@]}")
for package in "$folder"/packages/*.deb; do
  dpkg -x "$package" "$folder"
done
cat <<MESSAGE
Unpacked ${#libraries[@]} libraries and what they need into $folder. Now:
  export CMAKE_PREFIX_PATH=$folder/usr LD_LIBRARY_PATH=$folder/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
  ./run_scripts/quickstart.sh --no-install
MESSAGE
