// Rows of X and Y: their addresses, and how wide loads can be.
#pragma once

#include "core/matrix/dense_matrix.h"
#include "gpu/device/arithmetic.cuh"

namespace csrkit::gpu::sddmm {

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class Word>
__device__ Word load_word(const void* from) {
  return __ldg(static_cast<const Word*>(from));
}

/// Rows of X or Y, `bytes` apart. Bytes is 32 bits wide unless rows are 4 GiB or more apart
/// (are_far).
template <class T, class Bytes = std::uint32_t>
struct Rows {
  const T* first;
  Bytes bytes;

  explicit Rows(const ConstDenseView& view)
      : first(view.as<T>()), bytes(static_cast<Bytes>(bytes_between(view))) {}

  static std::uint64_t bytes_between(const ConstDenseView& view) {
    return view.rows <= 1 ? 0 : static_cast<std::uint64_t>(view.leading_dim) * sizeof(T);
  }
  static bool are_far(const ConstDenseView& view) {
    return bytes_between(view) >= std::uint64_t{1} << 32;
  }

  __device__ const T* at(Index row, Index col) const {
    auto address = reinterpret_cast<std::uint64_t>(first + col);
    if constexpr (sizeof(Bytes) == sizeof(std::uint32_t)) {
      // One instruction. The compiler alone widens `bytes` before the loop and multiplies 64 by 64
      // bits inside: five instructions.
      asm("mad.wide.u32 %0, %1, %2, %0;" : "+l"(address) : "r"(row), "r"(bytes));
    } else {
      address += static_cast<std::uint64_t>(row) * bytes;
    }
    return reinterpret_cast<const T*>(address);
  }
};

/// Whether every row of the operand can be read by aligned loads of `elements` elements.
inline bool has_loads_of(const ConstDenseView& view, int elements) {
  const auto bytes =
      static_cast<std::uintptr_t>(elements) * static_cast<std::uintptr_t>(size_of(view.kind));
  return view.cols % elements == 0 && (view.rows <= 1 || view.leading_dim % elements == 0) &&
         reinterpret_cast<std::uintptr_t>(view.data) % bytes == 0;
}

}  // namespace csrkit::gpu::sddmm
