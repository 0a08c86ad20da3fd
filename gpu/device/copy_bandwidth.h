// The ceiling of everything that has to come from memory. No CUDA in this header: tools include it.
#pragma once

namespace csrkit::gpu {

/// Bytes read and written per second when an array far larger than the L2 cache is copied on the
/// device: the median of ten copies, by events. Throws NoDeviceError, MemoryError, DeviceError.
double copy_bytes_per_second(int ordinal = 0);

}  // namespace csrkit::gpu
