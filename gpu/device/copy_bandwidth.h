// The ceiling of everything that has to come from memory. No CUDA in this header: tools include it.
#pragma once

#include <vector>

#include "core/base/types.h"

namespace csrkit::gpu {

/// What ten copies of an array of so many bytes on the device take, one after the other, by events.
/// Every byte is read and written. Throws NoDeviceError, MemoryError, DeviceError.
std::vector<double> copy_seconds(Offset bytes, int ordinal = 0);

}  // namespace csrkit::gpu
