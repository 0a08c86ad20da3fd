// The profile of a matrix on the device, for the chooser.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spmv/choose.h"

namespace csrkit::gpu {

/// Computes the size of each format without making any. `vector_bytes` as in SpmvProfile;
/// `element_bytes`: of x. Waits. Needs no more than the largest of these formats (forecast.cpp);
/// throws MemoryError if there is no room.
SpmvProfile profile_of(const DeviceCsr& a, std::uint64_t vector_bytes, int element_bytes,
                       DeviceMemory& memory);

}  // namespace csrkit::gpu
