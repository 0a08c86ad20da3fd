// Streams beside the caller's.
#pragma once

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Streams that run concurrently with the caller's between fork and join.
class SideStreams {
 public:
  SideStreams() {
    for (cudaStream_t& stream : streams_) {
      CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    for (cudaEvent_t& event : events_) {
      CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
  }
  ~SideStreams() {
    for (cudaStream_t stream : streams_) CHECK_CUDA_NOEXCEPT(cudaStreamDestroy(stream));
    for (cudaEvent_t event : events_) CHECK_CUDA_NOEXCEPT(cudaEventDestroy(event));
  }
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;

  static constexpr int kCount = 3;

  /// Work queued in `stream` so far comes before the next fork.
  void mark(cudaStream_t stream) { CHECK_CUDA(cudaEventRecord(events_[kCount], stream)); }

  /// Starts `sides` side streams at the last mark, until join.
  void fork(int sides) {
    sides_ = sides;
    for (int i = 0; i < sides; ++i) {
      CHECK_CUDA(cudaStreamWaitEvent(streams_[i], events_[kCount], 0));
    }
  }
  /// The stream for the `number`th piece of work; `stream` itself takes its share.
  cudaStream_t at(int number, cudaStream_t stream) const {
    const int turn = number % (sides_ + 1);
    return turn == sides_ ? stream : streams_[turn];
  }
  void join(cudaStream_t stream) {
    for (int i = 0; i < sides_; ++i) {
      CHECK_CUDA(cudaEventRecord(events_[i], streams_[i]));
      CHECK_CUDA(cudaStreamWaitEvent(stream, events_[i], 0));
    }
  }

 private:
  int sides_ = 0;
  cudaStream_t streams_[kCount] = {};
  cudaEvent_t events_[kCount + 1] = {};
};

}  // namespace csrkit::gpu
