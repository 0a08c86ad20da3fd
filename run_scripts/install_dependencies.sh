#!/usr/bin/env bash
# Installs the packages that csrkit is built from, with apt (tested on Debian 12).
# Says first what it will install; installs nothing that is there; needs root or sudo only for that.
#
# Usage: install_dependencies.sh [--tests] [--mpi] [--no-install]
#   --tests       also what only the tests need
#   --mpi         also an MPI, for products on many ranks (csr-spmm-dist)
#   --no-install  install nothing: list what is missing and go on
set -euo pipefail
# shellcheck source=run_scripts/messages.sh
. "$(dirname "$(realpath "$0")")/messages.sh"

build_packages=(g++ cmake ninja-build libcxxopts-dev libspdlog-dev libmetis-dev nlohmann-json3-dev
                libxxhash-dev libarchive-dev zlib1g-dev libisal-dev libfast-float-dev python3-matplotlib)
mpi_packages=(libopenmpi-dev openmpi-bin)
test_packages=(libgtest-dev librapidcheck-dev python3 python3-numpy python3-scipy python3-jsonschema shellcheck clang-format clang-tidy doxygen
               "${mpi_packages[@]}")

packages=("${build_packages[@]}")
install=yes
for argument in "$@"; do
  case $argument in
    --tests) packages+=("${test_packages[@]}") ;;
    --mpi) packages+=("${mpi_packages[@]}") ;;
    --no-install) install=no ;;
    *) unknown "$argument" ;;
  esac
done

without_root="Without root, docs/dependencies.md shows how to get them with conda or Spack."

if ! command -v apt-get >/dev/null; then
  [[ $install == no ]] && exit 0
  echo "install_dependencies.sh: this system has no apt. $without_root Then add --no-install." >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "Everything needed is installed."
  exit 0
fi
if [[ $install == no ]]; then
  echo "Not installed (--no-install): ${missing[*]}"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: these packages are missing and neither root nor sudo is there:" >&2
    echo "  ${missing[*]}" >&2
    echo "$without_root Then add --no-install." >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Will install with apt-get: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "Installed."
