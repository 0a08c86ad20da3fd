// What kernels tell the host, in page-locked memory that both share.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/device/cuda_check.h"

namespace csrkit::gpu {

/// A page-locked T, which kernels can write.
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

/// A T that a kernel sends to the host while later kernels are already queued, word by word. A
/// cudaMemcpy would delay the stream, and waiting for it would wake the host later.
template <class T>
class Told {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  static constexpr int kWords = sizeof(T) / sizeof(std::uint32_t);

 public:
  /// The kernel's end.
  class Place {
   public:
    Place(std::uint64_t* words, std::uint32_t turn) : words_(words), turn_(turn) {}

#ifdef __CUDACC__
    /// By all threads of a block. Each word is written together with its turn in one store, so no
    /// fence is needed.
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

  /// The place for the next launch in `stream`. The host must have waited for the last one.
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
      if (looks % kOften == 0) {  // a kernel that failed writes nothing
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

}  // namespace csrkit::gpu
