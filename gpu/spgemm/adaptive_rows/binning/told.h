// What kernels tell the host, in a page-locked cell that both share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gpu/device/cuda_check.h"
#include "gpu/device/page_locked_cells.h"

namespace csrkit::gpu {

/// A T that a kernel sends to the host while later kernels are already queued, word by word. A
/// cudaMemcpy would delay the stream, and waiting for it would wake the host later.
template <class T>
class Told {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint32_t) == 0);
  static constexpr int kWords = sizeof(T) / sizeof(std::uint32_t);
  static_assert(kWords * sizeof(std::uint64_t) <= PageLockedCells::kBytes, "a cell holds them");

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

  Told() { std::fill_n(words_, kWords, 0); }
  ~Told() {
    const bool may_still_be_written = turn_ != waited_for_;
    if (!may_still_be_written) PageLockedCells::give_back(words_);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  /// The place for the next launch in `stream`. The host must have waited for the last one.
  Place next(cudaStream_t stream) {
    stream_ = stream;
    return {words_, ++turn_};
  }

  T wait() {
    std::uint32_t told[kWords];
    for (int i = 0; i < kWords; ++i) told[i] = wait_for(words_ + i);
    waited_for_ = turn_;
    T what;
    std::memcpy(&what, told, sizeof what);
    return what;
  }

 private:
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

  std::uint64_t* words_ = static_cast<std::uint64_t*>(PageLockedCells::take());
  cudaStream_t stream_ = nullptr;
  std::uint32_t turn_ = 0, waited_for_ = 0;
};

}  // namespace csrkit::gpu
