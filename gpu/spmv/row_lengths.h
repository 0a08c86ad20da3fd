// Row lengths, for formats whose size depends on them.
#pragma once

#include <vector>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Element i is the number of rows with i entries; the last: with that many or more. Waits.
std::vector<Offset> count_row_lengths(const DeviceCsrView<void>& a, DeviceMemory& memory);
inline constexpr int kCountedLengths = 1024;

/// Entries of the longest row. Waits.
Offset longest_row(const DeviceCsrView<void>& a, DeviceMemory& memory);

}  // namespace csrkit::gpu
