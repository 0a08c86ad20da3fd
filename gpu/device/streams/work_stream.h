// A stream of a given priority.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Owns a stream of the current device that does not synchronize with the default stream.
class WorkStream {
 public:
  /// Blocks of an urgent stream are scheduled first.
  explicit WorkStream(bool is_urgent) {
    int least = 0, greatest = 0;
    CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                            is_urgent ? greatest : least));
  }
  ~WorkStream() { CHECK_CUDA_NOEXCEPT(cudaStreamDestroy(stream_)); }
  WorkStream(const WorkStream&) = delete;
  WorkStream& operator=(const WorkStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace csrkit::gpu
