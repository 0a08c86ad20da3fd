// Products whose forecast does not fit at once: which rows of A to multiply at a time.
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

/// Cuts `whole` from the top into ranges of as many rows as `forecast` lets into `available` bytes.
/// `row_offsets` are A's, `products` those of its rows. Throws MemoryError with both numbers, and
/// the row, where a single row does not fit.
std::vector<RowRange> cut_rows(const SpgemmSizes& whole, const Offset* row_offsets,
                               const std::vector<Offset>& products, std::uint64_t available,
                               const std::function<std::uint64_t(const SpgemmSizes&)>& forecast);

}  // namespace csrkit::gpu
