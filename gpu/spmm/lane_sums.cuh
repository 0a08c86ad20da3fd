// A lane's sums of neighbouring columns, and loads and stores as wide as the operands allow; used
// by every SpMM kernel.
#pragma once

#include "gpu/device/arithmetic.cuh"
#include "gpu/device/device_csr.h"
#include "gpu/device/warp.cuh"

namespace csrkit::gpu {

/// How the sums of `Types` are added up.
template <class Types>
using AlgebraOf = std::conditional_t<Types::kIsPlusTimes, PlusTimes<typename Types::Accumulate>,
                                     AnySemiring<typename Types::Accumulate>>;

/// kWidth running sums of neighbouring columns.
template <class Types, int kWidth>
struct Sums : AlgebraOf<Types> {
  using Number = typename Types::Accumulate;
  using Algebra = AlgebraOf<Types>;
  Number item[kWidth];

  __device__ const Algebra& algebra() const { return *this; }
  __device__ void clear(const Algebra& algebra) {
    static_cast<Algebra&>(*this) = algebra;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) item[i] = algebra.empty_sum();
  }
  __device__ void clear() {
    static_assert(Types::kIsPlusTimes, "the semiring must be given");
    clear(Algebra());
  }
  __device__ void add_product(Number x, const Pack<typename Types::Value, kWidth>& y) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      item[i] = algebra().add_product(item[i], x, widen<Number>(y.item[i]));
    }
  }

  /// Adds the sums of lane ^ apart. By all lanes of a warp; afterwards both lanes hold the same
  /// sums.
  __device__ void add_from_lane_apart(int apart) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      item[i] = algebra().add(item[i], __shfl_xor_sync(kAllLanes, item[i], apart));
    }
  }

  /// C = alpha * sums + beta * C; C is read only if beta is not 0.
  __device__ void store(typename Types::Output* c, Number alpha, Number beta) const {
    Sums scaled = *this;
    if constexpr (Types::kIsPlusTimes) {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        scaled.item[i] *= alpha;
        if (beta != 0) scaled.item[i] = fma(beta, widen<Number>(c[i]), scaled.item[i]);
      }
    }
    scaled.store(c);
  }

  /// C = sums.
  __device__ void store(typename Types::Output* c) const {
    using Output = typename Types::Output;
    Pack<Output, kWidth> out;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) out.item[i] = Narrow<Output>::of(item[i]);
    store_once<Output, kWidth>(c, out);
  }
};

/// The value of entry `at`; every entry is 1 where none are stored.
template <class Types>
__device__ inline typename Types::Accumulate value_at(const DeviceCsrView<typename Types::Value>& a,
                                                      Offset at) {
  if (a.values == nullptr) return 1;
  return widen<typename Types::Accumulate>(load_once(a.values + at));
}

/// Elements per access that the operands allow: columns, leading dimensions and addresses of B and
/// C must be multiples of it. The narrower type decides.
template <class Value, class Output>
__host__ __device__ int widest_access(const DeviceDenseView<const Value>& b,
                                      const DeviceDenseView<Output>& c) {
  for (int bytes = 16; bytes > static_cast<int>(sizeof(Value)); bytes /= 2) {
    const int width = bytes / static_cast<int>(sizeof(Value));
    const auto c_bytes =
        static_cast<std::uintptr_t>(width * sizeof(Output) < 16 ? width * sizeof(Output) : 16);
    if (b.cols % width == 0 && b.leading_dim % width == 0 && c.leading_dim % width == 0 &&
        reinterpret_cast<std::uintptr_t>(b.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
        reinterpret_cast<std::uintptr_t>(c.data) % c_bytes == 0) {
      return width;
    }
  }
  return 1;
}

/// The same for a panel of columns of operands that have `whole_cols` columns and no padding: what
/// the whole allows, because the width decides the order of sums. All panels but the last have a
/// multiple of 16 bytes of columns.
template <class Value, class Output>
int widest_access_of_whole(DeviceDenseView<const Value> b, DeviceDenseView<Output> c,
                           Index whole_cols) {
  if (c.cols < whole_cols) {
    b.cols = c.cols = whole_cols;
    b.leading_dim = c.leading_dim = whole_cols;
  }
  return widest_access(b, c);
}

/// Calls `f` with the width as a constant. Only accesses of 16 bytes, of 8 bytes and of single
/// elements are compiled; for the other semirings only single elements.
template <class Types, class F>
void with_width(int width, F&& f) {
  constexpr int kFull = 16 / static_cast<int>(sizeof(typename Types::Value));
  if constexpr (Types::kIsPlusTimes) {
    if (width == kFull) return f(std::integral_constant<int, kFull>{});
    if constexpr (kFull > 2) {
      if (width == kFull / 2) return f(std::integral_constant<int, kFull / 2>{});
    }
  }
  f(std::integral_constant<int, 1>{});
}

/// The width that with_width uses for `width`.
template <class Types>
int compiled_width(int width) {
  int compiled = 1;
  with_width<Types>(width, [&](auto constant) { compiled = constant; });
  return compiled;
}

}  // namespace csrkit::gpu
