// How much of x a product gathers.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// A sector: the bytes that caches transfer at once.
inline constexpr int kSectorBytes = 32;

/// The number of sectors of x that warps load if each warp gathers for 32 consecutive entries of A.
/// Hits in L1 are not subtracted. `element_bytes`: of x. Waits.
Offset count_gathered_sectors(const DeviceCsrView<void>& a, int element_bytes,
                              DeviceMemory& memory);

}  // namespace csrkit::gpu
