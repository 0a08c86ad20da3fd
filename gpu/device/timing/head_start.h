// Fair clocks for short kernels: let the host queue everything before the device begins.
#pragma once

#include <cuda_runtime.h>

namespace csrkit::gpu {

/// Keeps the stream busy for some 30 microseconds. Queued before a timed region, it gives the host
/// the time to queue the region's events and kernels, so that the gap between two launches on the
/// host, 2 to 10 microseconds, is not measured as if the device had worked.
void give_head_start(cudaStream_t stream);

}  // namespace csrkit::gpu
