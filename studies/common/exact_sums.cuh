// Products whose sums are exact in any order, so that two kernels must agree in every bit: one is
// judged against float64, all others are compared with it where they are.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/hash.h"
#include "core/matrix/csr_matrix.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_buffer.h"

namespace csrkit::studies {

/// A whole number of -8 to 8, but not 0.
inline double whole_number(std::uint64_t seed, std::uint64_t at) {
  const auto size = static_cast<double>(below(random_word(seed, at, 1), 8) + 1);
  return below(random_word(seed, at, 2), 2) == 0 ? size : -size;
}

/// The pattern of a matrix with such values. Sums of up to 2^18 products are exact in f32.
template <class Value>
CsrMatrix with_whole_numbers(const CsrMatrix& pattern) {
  const auto values = std::make_shared<std::vector<Value>>(pattern.nnz());
  for (Offset at = 0; at < pattern.nnz(); ++at) {
    (*values)[at] = static_cast<Value>(whole_number(1, static_cast<std::uint64_t>(at)));
  }
  const auto owner = std::make_shared<std::pair<CsrMatrix, decltype(values)>>(pattern, values);
  return CsrMatrix(pattern.rows(), pattern.cols(), pattern.row_offsets(), pattern.col_indices(),
                   kValueKindOf<Value>, values->data(), owner);
}

namespace detail {

__global__ static void count_unlike(const unsigned* a, const unsigned* b, Offset words,
                                    unsigned long long* unlike) {
  const Offset stride = Offset{gridDim.x} * blockDim.x;
  for (Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x; at < words; at += stride) {
    if (a[at] != b[at]) atomicAdd(unlike, 1ull);
  }
}

}  // namespace detail

/// Counts the 4-byte words in which arrays on the device differ.
class UnlikeWords {
 public:
  explicit UnlikeWords(gpu::DeviceMemory& memory)
      : stream_(memory.stream()), count_(memory, 1, "a count") {
    CHECK_CUDA(cudaMemsetAsync(count_.data(), 0, count_.size_bytes(), stream_));
  }

  void compare(const void* a, const void* b, std::uint64_t bytes) {
    if (bytes == 0) return;
    detail::count_unlike<<<1024, 256, 0, stream_>>>(
        static_cast<const unsigned*>(a), static_cast<const unsigned*>(b),
        static_cast<Offset>(bytes / sizeof(unsigned)), count_.data());
    CHECK_LAUNCH("count_unlike", stream_);
  }

  /// Waits.
  unsigned long long count() {
    unsigned long long words = 0;
    CHECK_CUDA(
        cudaMemcpyAsync(&words, count_.data(), sizeof words, cudaMemcpyDeviceToHost, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    return words;
  }

 private:
  cudaStream_t stream_;
  gpu::DeviceBuffer<unsigned long long> count_;
};

}  // namespace csrkit::studies
