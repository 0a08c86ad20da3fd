// How much work a sparse product is, counted on the device.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

struct ProductCounts {
  Offset products = 0;      // multiplications: sum over the entries of A of the length of B's row
  Offset longest = 0;       // most products in one row of C
  Offset output_bound = 0;  // sum over the rows of min(products of the row, columns of B)
};

/// Counts over the rows of `a`, and waits for the numbers. `of_rows`, if not null, gets the
/// products of each row.
ProductCounts count_products(const DeviceCsrView<void>& a, const DeviceCsrView<void>& b,
                             DeviceMemory& memory, Offset* of_rows = nullptr);

}  // namespace csrkit::gpu
