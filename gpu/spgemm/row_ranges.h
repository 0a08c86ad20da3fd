// Cuts A into ranges of rows where the whole product does not fit the memory.
#pragma once

#include <functional>
#include <vector>

#include "gpu/spgemm/device_spgemm.h"

namespace csrkit::gpu {

/// Rows [first, last) of A and C.
struct RowRange {
  Index first = 0;
  Index last = 0;
  SpgemmSizes sizes;
};

/// Cuts `whole`, from the top, into ranges whose forecast fits `available` bytes, each nearly as
/// long as possible. `row_offsets` are A's; `products` has a number for each of its rows. Throws
/// MemoryError, with the row and both numbers, where a single row does not fit.
std::vector<RowRange> cut_rows(const SpgemmSizes& whole, const Offset* row_offsets,
                               const std::vector<Offset>& products, std::uint64_t available,
                               const std::function<std::uint64_t(const SpgemmSizes&)>& forecast);

}  // namespace csrkit::gpu
