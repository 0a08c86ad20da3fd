#include "gpu/spgemm/row_ranges.h"

#include <algorithm>
#include <string>

#include "core/base/counted.h"

namespace csrkit::gpu {

namespace {

SpgemmSizes sizes_of(const SpgemmSizes& whole, const Offset* row_offsets,
                     const std::vector<Offset>& products, Index first, Index last) {
  SpgemmSizes sizes = whole;
  sizes.rows = last - first;
  sizes.a_nnz = row_offsets[last] - row_offsets[first];
  sizes.counts = {};
  for (Index row = first; row < last; ++row) {
    sizes.counts.add_row(row_offsets[row + 1] - row_offsets[row],
                         products[static_cast<std::size_t>(row)], whole.cols);
  }
  return sizes;
}

}  // namespace

std::vector<RowRange> cut_rows(const SpgemmSizes& whole, const Offset* row_offsets,
                               const std::vector<Offset>& products, std::uint64_t available,
                               const std::function<std::uint64_t(const SpgemmSizes&)>& forecast) {
  std::vector<RowRange> ranges;
  for (Index first = 0; first < whole.rows;) {
    RowRange range = {first, first, {}};
    const auto extend = [&](Offset rows) {
      const auto last = static_cast<Index>(std::min(Offset{whole.rows}, Offset{first} + rows));
      const SpgemmSizes sizes = sizes_of(whole, row_offsets, products, first, last);
      if (forecast(sizes) > available) return false;
      range = {first, last, sizes};
      return true;
    };
    if (!extend(1)) {
      const SpgemmSizes row = sizes_of(whole, row_offsets, products, first, first + 1);
      throw MemoryError("row " + std::to_string(first) + " of C alone needs up to " +
                        counted(forecast(row), "byte") + " of device memory beside the operands; " +
                        counted(available, "byte") + " are left to it");
    }
    // Doubles, then takes smaller steps: every range is within a sixteenth of the largest that
    // fits.
    Offset rows = 1;
    while (range.last < whole.rows && extend(2 * rows)) rows *= 2;
    for (Offset more = rows / 2; more > rows / 16 && range.last < whole.rows; more /= 2) {
      extend(range.last - first + more);
    }
    ranges.push_back(range);
    first = range.last;
  }
  return ranges;
}

}  // namespace csrkit::gpu
