// The device's copy bandwidth, a bound on every kernel that reads memory. No CUDA in this header:
// tools include it.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace csrkit::gpu {

/// Seconds of ten copies of `bytes` bytes within the device, one after the other, timed by events.
/// Every byte is read and written once. Throws NoDeviceError, MemoryError, DeviceError.
std::vector<double> copy_seconds(Offset bytes, int ordinal = 0);

}  // namespace csrkit::gpu
