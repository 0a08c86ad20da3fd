// Sorting the keys of one bucket in a core's cache.
#pragma once

#include <cstdint>

#include "core/base/types.h"

namespace csrkit {

/// Sorts numbers that are made of a key (row above column) and, below it, the position where the
/// key stood: so all differ, and the order among equal keys is that of their positions. They must
/// come in the order of their positions. `spare` has room for as many; the result is in the array
/// that is returned, one of the two.
struct PackedLayout {
  int position_bits = 0;
  int col_bits = 0;  // of the key; the rest is row
  int key_bits = 0;
};
std::uint64_t* sort_packed(std::uint64_t* packed, std::uint64_t* spare, Offset size,
                           const PackedLayout& layout);

}  // namespace csrkit
