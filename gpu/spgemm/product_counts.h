// How much work a sparse product is, counted on the device.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// A hub is a row of A with more entries than this that meet no more than so many of B each, in the
/// mean.
inline constexpr Offset kHubSources = 1024;
inline constexpr Offset kMostPerHubSource = 32;

struct ProductCounts {
  Offset products = 0;      // multiplications: sum over the entries of A of the length of B's row
  Offset longest = 0;       // most products in one row of C
  Offset output_bound = 0;  // sum over the rows of min(products of the row, columns of B)
  Offset of_hubs = 0;       // products of the rows that are hubs

  /// A row with `sources` entries of A, for a C of `cols` columns.
  void add_row(Offset sources, Offset of_row, Offset cols) {
    products += of_row;
    if (of_row > longest) longest = of_row;
    output_bound += of_row < cols ? of_row : cols;
    of_hubs += products_of_hub(sources, of_row);
  }
  static constexpr Offset products_of_hub(Offset sources, Offset of_row) {
    return sources > kHubSources && of_row <= kMostPerHubSource * sources ? of_row : 0;
  }
};

/// Counts over the rows of `a`, and waits for the numbers. `of_rows`, if not null, gets the
/// products of each row.
ProductCounts count_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                             DeviceMemory& memory, Offset* of_rows = nullptr);

}  // namespace csrkit::gpu
