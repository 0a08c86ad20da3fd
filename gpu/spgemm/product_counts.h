// The work of a sparse product, counted on the device.
#pragma once

#include <cuda_runtime.h>

#include "core/contract/semiring.h"  // CSRKIT_HOST_DEVICE
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// A row of A may be a hub if it has more than kHubSources entries, and at most kMostPerHubSource
/// products for each on average.
inline constexpr Offset kHubSources = 256;
inline constexpr Offset kMostPerHubSource = 32;

inline CSRKIT_HOST_DEVICE bool may_be_hub(Offset sources, Offset products,
                                          Offset fewest_sources = kHubSources,
                                          Offset most_per_source = kMostPerHubSource) {
  return sources > fewest_sources && products <= most_per_source * sources;
}

struct ProductCounts {
  Offset products = 0;      // multiplications: sum over the entries of A of the length of B's row
  Offset longest = 0;       // most products in one row of C
  Offset output_bound = 0;  // sum over the rows of min(products of the row, columns of B)
  Offset of_hubs = 0;       // products of the rows that may be hubs

  /// Adds a row with `sources` entries of A and `of_row` products, for a C of `cols` columns.
  void add_row(Offset sources, Offset of_row, Offset cols) {
    products += of_row;
    if (of_row > longest) longest = of_row;
    output_bound += of_row < cols ? of_row : cols;
    if (may_be_hub(sources, of_row)) of_hubs += of_row;
  }
};

/// Counts the products of all rows of `a`; waits. `of_rows`, if not null, is an array on the device
/// for the products of each row.
ProductCounts count_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                             DeviceMemory& memory, Offset* of_rows = nullptr);

}  // namespace csrkit::gpu
