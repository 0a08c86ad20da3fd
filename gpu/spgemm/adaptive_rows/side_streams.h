// Streams beside the caller's, and memory that both the host and kernels write to.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// Page-locked, so that kernels can write to it.
template <class T>
class PageLocked {
 public:
  PageLocked() { CHECK_CUDA(cudaMallocHost(&data_, sizeof(T))); }
  ~PageLocked() { CHECK_CUDA_NOEXCEPT(cudaFreeHost(data_)); }
  PageLocked(const PageLocked&) = delete;
  PageLocked& operator=(const PageLocked&) = delete;

  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// What a kernel tells the host while others are queued behind it already; T is copied word by
/// word. A copy would hold up the stream, and the host would wake up later.
template <class T>
class Told {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  static constexpr int kWords = sizeof(T) / sizeof(std::uint32_t);

 public:
  /// Where a kernel writes to.
  class Place {
   public:
    Place(std::uint64_t* words, std::uint32_t turn) : words_(words), turn_(turn) {}

#ifdef __CUDACC__
    /// By all threads of a block. A word and its turn arrive together, so nobody waits for any.
    __device__ void tell(const T& what) const {
      const auto* const from = reinterpret_cast<const std::uint32_t*>(&what);
      for (int i = static_cast<int>(threadIdx.x); i < kWords; i += static_cast<int>(blockDim.x)) {
        words_[i] = std::uint64_t{turn_} << 32 | from[i];
      }
    }
#endif

   private:
    std::uint64_t* words_;
    std::uint32_t turn_;
  };

  Told() {
    for (std::uint64_t& word : memory_.get()->words) word = 0;
  }

  /// For the next launch in `stream`; what was told before must have been waited for.
  Place next(cudaStream_t stream) {
    stream_ = stream;
    return {memory_.get()->words, ++turn_};
  }

  T wait() {
    std::uint32_t told[kWords];
    for (int i = 0; i < kWords; ++i) told[i] = wait_for(memory_.get()->words + i);
    T what;
    std::memcpy(&what, told, sizeof what);
    return what;
  }

 private:
  struct Words {
    std::uint64_t words[kWords];
  };

  std::uint32_t wait_for(const volatile std::uint64_t* at) {
    constexpr unsigned kOften = 1 << 16;
    std::uint64_t word = *at;
    for (unsigned looks = 1; word >> 32 != turn_; ++looks) {
      if (looks % kOften == 0) {  // nothing comes from a kernel that failed
        const cudaError_t state = cudaStreamQuery(stream_);
        if (state != cudaErrorNotReady) CHECK_CUDA(state);
      }
      word = *at;
    }
    return static_cast<std::uint32_t>(word);
  }

  PageLocked<Words> memory_;
  cudaStream_t stream_ = nullptr;
  std::uint32_t turn_ = 0;
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
