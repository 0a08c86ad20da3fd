// What a matrix on the device looks like to the chooser.
#pragma once

#include "gpu/device/device_csr.h"
#include "gpu/spmv/choose.h"

namespace csrkit::gpu {

/// Measures what each format would take, without making any. `vector_bytes` as in SpmvProfile;
/// `element_bytes`: of x. Waits. Throws MemoryError if there is no room to look: some 50 bytes a
/// row.
SpmvProfile profile_of(const DeviceCsr& a, std::uint64_t vector_bytes, int element_bytes,
                       DeviceMemory& memory);

}  // namespace csrkit::gpu
