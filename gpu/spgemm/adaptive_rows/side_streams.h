// Streams beside the caller's, and memory that both the host and kernels write to.
#pragma once

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Page-locked, so that a copy to it is one short command, and kernels can write to it.
template <class T>
class PageLocked {
 public:
  PageLocked() {
    CHECK_CUDA(cudaMallocHost(&data_, sizeof(T)));
    CHECK_CUDA(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming));
  }
  ~PageLocked() {
    CHECK_CUDA_NOEXCEPT(cudaEventDestroy(arrived_));
    CHECK_CUDA_NOEXCEPT(cudaFreeHost(data_));
  }
  PageLocked(const PageLocked&) = delete;
  PageLocked& operator=(const PageLocked&) = delete;

  T* get() const { return data_; }
  /// Queues a copy; what is queued after it runs while the host wakes up.
  void order(const T* from, cudaStream_t stream) {
    CHECK_CUDA(cudaMemcpyAsync(data_, from, sizeof(T), cudaMemcpyDeviceToHost, stream));
    CHECK_CUDA(cudaEventRecord(arrived_, stream));
  }
  T wait() {
    CHECK_CUDA(cudaEventSynchronize(arrived_));
    return *data_;
  }

 private:
  T* data_ = nullptr;
  cudaEvent_t arrived_ = nullptr;
};

/// Streams that run beside the caller's from fork to join.
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

  /// What is queued up to here is before the next fork.
  void mark(cudaStream_t stream) { CHECK_CUDA(cudaEventRecord(events_[kCount], stream)); }

  /// `sides` of them from the last mark to join.
  void fork(int sides) {
    sides_ = sides;
    for (int i = 0; i < sides; ++i) {
      CHECK_CUDA(cudaStreamWaitEvent(streams_[i], events_[kCount], 0));
    }
  }
  /// For the `number`th piece of work; `stream` takes its share.
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
