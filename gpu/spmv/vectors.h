// The vectors of SpMV: matrices of one column, with any distance between elements. Kernels with
// kManyColumns loop over more columns themselves.
#pragma once

#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/contract/semiring.h"
#include "core/matrix/dense_matrix.h"
#ifdef __CUDACC__
#include "gpu/device/arithmetic.cuh"
#endif

namespace csrkit::gpu {

#ifdef __CUDACC__
template <class Number, bool kPlusTimes>
using AlgebraFor = std::conditional_t<kPlusTimes, PlusTimes<Number>, AnySemiring<Number>>;
#endif

/// The types of one product: of A's stored values (any type if A has none), of x, of y. Plus and
/// times are compiled in; the other semirings are chosen at run time.
template <class ValueType, class VectorType, class OutputType, bool kPlusTimes = true>
struct SpmvTypes {
  using Value = ValueType;
  using Vector = VectorType;
  using Output = OutputType;
  using Number = std::conditional_t<std::is_same_v<VectorType, double>, double, float>;
  static constexpr bool kIsPlusTimes = kPlusTimes;
};

/// x: element i is `step_bytes * i` bytes behind `data`. In 32 bits the step costs nothing, as it
/// takes the place of an element's size in one multiply-add.
template <class Vector>
struct InputVector {
  const char* data = nullptr;
  std::uint32_t step_bytes = 0;

  CSRKIT_HOST_DEVICE InputVector column(Index j) const {
    return {data + j * sizeof(Vector), step_bytes};
  }
#ifdef __CUDACC__
  /// Through the read-only path: x is read again and again.
  template <class Number>
  __device__ Number at(Index i) const {
    const char* from = data + std::uint64_t{static_cast<std::uint32_t>(i)} * step_bytes;
    return widen<Number>(load_kept<1>(reinterpret_cast<const Vector*>(from)).item[0]);
  }
  /// kCount neighbours from element i on, in loads of kWidth, to which their address is aligned.
  template <int kCount, int kWidth, class Number>
  __device__ void neighbours_at(Index i, Number (&to)[kCount]) const {
    const char* place = data + std::uint64_t{static_cast<std::uint32_t>(i)} * step_bytes;
#pragma unroll
    for (int j = 0; j < kCount; j += kWidth) {
      const auto pack = load_kept<kWidth>(reinterpret_cast<const Vector*>(place) + j);
#pragma unroll
      for (int u = 0; u < kWidth; ++u) to[j + u] = widen<Number>(pack.item[u]);
    }
  }
#endif
  /// Whether neighbours can be loaded `width` at a time.
  bool is_aligned(int width) const {
    const auto bytes = static_cast<std::uintptr_t>(width) * sizeof(Vector);
    return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && step_bytes % bytes == 0;
  }
};

/// Stores a row's sum: y = alpha * sum + beta * y; y is read only if beta is not 0.
template <class Types>
struct OutputUpdate {
  using Number = typename Types::Number;
  using Output = typename Types::Output;
  char* data = nullptr;
  std::uint32_t step_bytes = 0;
  Index rows = 0;
  Index cols = 1;
  Number alpha = 1;
  Number beta = 0;

  CSRKIT_HOST_DEVICE OutputUpdate column(Index j) const {
    OutputUpdate one = *this;
    one.data += j * sizeof(Output);
    return one;
  }
#ifdef __CUDACC__
  __device__ Output* place(Index row) const {
    return reinterpret_cast<Output*>(data +
                                     std::uint64_t{static_cast<std::uint32_t>(row)} * step_bytes);
  }
  __device__ void store(Index row, Number sum) const {
    Output* const to = place(row);
    if constexpr (Types::kIsPlusTimes) {
      sum *= alpha;
      if (beta != 0) sum = fma(beta, widen<Number>(*to), sum);
    }
    *to = Narrow<Output>::of(sum);
  }
  /// y += alpha * sum, after y was multiplied by beta.
  __device__ void add(Index row, Number sum) const {
    Output* const to = place(row);
    *to = Narrow<Output>::of(fma(alpha, sum, widen<Number>(*to)));
  }
#endif
};

/// Throws UsageError if neighbours are 4 GiB or more apart.
inline std::uint32_t step_bytes_of(const ConstDenseView& vector, const char* name) {
  const Offset bytes = vector.rows > 1 ? vector.leading_dim * size_of(vector.kind) : 0;
  if (bytes > Offset{UINT32_MAX}) {
    throw UsageError(std::string(name) + " has elements that are " + std::to_string(bytes) +
                     " bytes apart; this kernel takes steps below 4 GiB, so give a packed vector");
  }
  return static_cast<std::uint32_t>(bytes);
}

template <class Vector>
InputVector<Vector> input_of(const ConstDenseView& x) {
  return {static_cast<const char*>(x.data), step_bytes_of(x, "x")};
}

template <class Types>
OutputUpdate<Types> update_of(const DenseView& y, double alpha, double beta) {
  using Number = typename Types::Number;
  return {static_cast<char*>(y.data), step_bytes_of(y, "y"),    y.rows, y.cols,
          static_cast<Number>(alpha), static_cast<Number>(beta)};
}

#ifdef __CUDACC__
/// The value of entry `at`; every entry is 1 where none are stored.
template <class Number, class Value>
__device__ inline Number value_of(const Value* values, Offset at) {
  return values == nullptr ? Number{1} : widen<Number>(load_once(values + at));
}
#endif

/// Calls f with an unsigned number as wide as a stored value: for code that compares and copies
/// values by their bits.
template <class F>
void with_bits(int value_bytes, F&& f) {
  switch (value_bytes) {
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    default: return f(static_cast<unsigned long long>(0));
  }
}

/// The default threads of a block, and the blocks for `threads` threads.
inline constexpr int kSpmvThreads = 256;
inline unsigned spmv_blocks(Offset threads) {
  return static_cast<unsigned>((threads + kSpmvThreads - 1) / kSpmvThreads);
}

}  // namespace csrkit::gpu
