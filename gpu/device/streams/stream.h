// The stream in which work is queued, and the calling thread's device.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Makes `ordinal` the calling thread's device for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal) {
    CHECK_CUDA(cudaGetDevice(&previous_));
    if (ordinal != previous_) CHECK_CUDA(cudaSetDevice(ordinal));
  }
  ~DeviceScope() { CHECK_CUDA_NOEXCEPT(cudaSetDevice(previous_)); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

/// The caller's stream, which must outlive this object, or its own on the current device. Its own
/// stream is ordered with the legacy default stream, so it sees what the caller's plain cudaMemcpy
/// and cudaMemset did to the operands.
class Stream {
 public:
  explicit Stream(cudaStream_t borrowed) : stream_(borrowed) {
    if (borrowed == nullptr) {
      CHECK_CUDA(cudaStreamCreate(&stream_));
      is_owned_ = true;
    }
    current_ = stream_;
  }
  ~Stream() {
    if (is_owned_) CHECK_CUDA_NOEXCEPT(cudaStreamDestroy(stream_));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return current_; }
  void wait() const { CHECK_CUDA(cudaStreamSynchronize(current_)); }

  /// Continues in the stream `other`, which waits for what is queued here. It does not wait if one
  /// of the two is being captured: the wait would make this stream's work a part of the graph.
  void go_to(cudaStream_t other) {
    if (other == current_) return;
    if (!is_captured(other) && !is_captured(current_)) {
      cudaEvent_t done = nullptr;
      CHECK_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
      CHECK_CUDA(cudaEventRecord(done, current_));
      CHECK_CUDA(cudaStreamWaitEvent(other, done));
      CHECK_CUDA(cudaEventDestroy(done));
    }
    current_ = other;
  }
  /// Continues in the first stream: memory was allocated there, and is freed there.
  void go_back() { go_to(stream_); }

 private:
  static bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CHECK_CUDA(cudaStreamIsCapturing(stream, &status));
    return status != cudaStreamCaptureStatusNone;
  }

  cudaStream_t stream_ = nullptr;
  cudaStream_t current_ = nullptr;
  bool is_owned_ = false;
};

}  // namespace csrkit::gpu
