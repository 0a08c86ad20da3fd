// Cold measurements: push everything out of the last-level cache.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Reads a buffer of its own, twice as large as the L2 cache, each time it is asked to. The buffer
/// is an instrument of measuring: it is not in the account of any plan.
class L2Flush {
 public:
  L2Flush(int device, cudaStream_t stream);
  void run();

 private:
  DeviceMemory memory_;
  DeviceBuffer<int4> buffer_;
  DeviceBuffer<int> sink_;
};

}  // namespace csrkit::gpu
