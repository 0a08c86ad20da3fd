// How much of x a product asks for.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Bytes that the caches hand out at once.
inline constexpr int kSectorBytes = 32;

/// Sectors of x that warps ask for, where each warp gathers for 32 entries that follow each other
/// in A; `element_bytes`: of x. What the first cache keeps is not taken off. Waits.
Offset count_gathered_sectors(const DeviceCsrView<void>& a, int element_bytes,
                              DeviceMemory& memory);

}  // namespace csrkit::gpu
