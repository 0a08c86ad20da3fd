// Sums of counts on the device, and fetching one element.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::gpu {

/// Replaces each number by the sum of those before it; in place, in the memory's stream.
void exclusive_sum(DeviceMemory& memory, Offset* numbers, Offset count);

/// One element from the device; waits.
template <class T>
T fetch(const T* from, cudaStream_t stream) {
  T value = {};
  CHECK_CUDA(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  return value;
}

}  // namespace csrkit::gpu
