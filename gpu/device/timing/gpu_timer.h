// The clock of the GPU: two events around queued work.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

class GpuTimer {
 public:
  GpuTimer() {
    CHECK_CUDA(cudaEventCreate(&begin_));
    const cudaError_t status = cudaEventCreate(&end_);
    if (status != cudaSuccess) {
      CHECK_CUDA_NOEXCEPT(cudaEventDestroy(begin_));
      CHECK_CUDA(status);
    }
  }
  ~GpuTimer() {
    CHECK_CUDA_NOEXCEPT(cudaEventDestroy(begin_));
    CHECK_CUDA_NOEXCEPT(cudaEventDestroy(end_));
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  void start(cudaStream_t stream) { CHECK_CUDA(cudaEventRecord(begin_, stream)); }
  void stop(cudaStream_t stream) { CHECK_CUDA(cudaEventRecord(end_, stream)); }

  /// Waits for the work between start and stop.
  double seconds() {
    float milliseconds = 0;
    CHECK_CUDA(cudaEventSynchronize(end_));
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace csrkit::gpu
