# shellcheck shell=bash
# Projects outside of this tree build against what was installed, by find_package and by pkg-config, in C
# and in C++, with warnings as errors; and what they print is right.
prefix=$(cd "$(dirname "$(command -v csr-bench)")/.." && pwd)
for tool in cmake cc c++; do
  command -v $tool >/dev/null || { echo "$tool is not there"; exit 6; }
done
cp -r "$CLI_FOLDER/../../examples" project

# "row 0": the sum of the row times 1, 2, 3, 4.
tiny_mtx >tiny.mtx
expect 0 csr-import tiny.mtx tiny.csr --value-kind f32 --quiet
right() { # right COMMAND
  expect 0 "$1" tiny.csr
  equals "$(cat out)" "4 x 4, 6 nonzeros; row 0 of the product: -0.5 -1 -1.5 -2"
  expect 4 "$1" nowhere.csr
  grep -q '^multiply: error: .*nowhere.csr' err || fail "$1 does not say what is missing"
  expect 3 "$1" tiny.mtx
}

expect 0 cmake -S project -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
expect 0 cmake --build build
right build/multiply
expect 0 build/multiply_cpp tiny.mtx
prints ": right"
expect 3 build/multiply_cpp tiny.csr # no text format

# Every header that was installed needs nothing that was not.
(cd "$prefix/include/csrkit" && find . -name '*.h' | sed 's/.*/#include <&>/') >headers.cpp
expect 0 c++ -std=c++17 -Wall -Wextra -Werror -fopenmp -fsyntax-only -I"$prefix/include" -I"$prefix/include/csrkit" headers.cpp

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name csrkit.pc)")
  export PKG_CONFIG_PATH
  libraries=$(pkg-config --variable=libdir csrkit)
  # shellcheck disable=SC2046 # words
  expect 0 cc -std=c99 -pedantic -Wall -Wextra -Werror project/multiply.c -o multiply \
    $(pkg-config --cflags --libs csrkit) -Wl,-rpath,"$libraries"
  right ./multiply
fi
