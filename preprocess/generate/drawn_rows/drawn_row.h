// A row while its columns are drawn: a bit for every column, and the columns so far.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/hash.h"
#include "core/base/types.h"

namespace csrkit {

/// A thread has one of these and uses it for all of its rows.
struct DrawnRow {
  explicit DrawnRow(Index cols) : bits((static_cast<std::size_t>(cols) + 63) / 64, 0) {}
  std::vector<std::uint64_t> bits;
  RandomStream random{0};
  Index* out = nullptr;
  Index count = 0;

  bool holds(Index col) const { return bits[static_cast<std::size_t>(col) >> 6] >> (col & 63) & 1; }
  void flip(Index col) {
    bits[static_cast<std::size_t>(col) >> 6] ^= std::uint64_t{1} << (col & 63);
  }
  bool add(Index col) {
    if (holds(col)) return false;
    flip(col);
    out[count++] = col;
    return true;
  }

  /// Leaves the row ascending and the bits clear. A long row is read off the bits, for free.
  void finish() {
    if (static_cast<std::size_t>(count) * 16 < bits.size()) {
      for (Index i = 0; i < count; ++i) flip(out[i]);
      std::sort(out, out + count);
      return;
    }
    Index* next = out;
    for (std::size_t word = 0; word < bits.size(); ++word) {
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        *next++ = static_cast<Index>(word * 64 + static_cast<std::size_t>(__builtin_ctzll(left)));
      }
      bits[word] = 0;
    }
  }
};

}  // namespace csrkit
