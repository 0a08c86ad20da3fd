// Numbers on the device: stored values to numbers and back, vectors of them, semirings.
#pragma once

#include <cuda_fp16.h>

#include <cstring>

#include "core/spmm.h"
#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

template <class Accumulate>
__device__ inline Accumulate widen(float value) {
  return value;
}
template <class Accumulate>
__device__ inline Accumulate widen(double value) {
  return value;
}
template <class Accumulate>
__device__ inline Accumulate widen(f16 value) {
  return __half2float(__ushort_as_half(value.bits));
}
template <class Accumulate>
__device__ inline Accumulate widen(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

/// One rounding, to nearest even; a NaN stays a NaN.
template <class Stored>
struct Narrow;
template <>
struct Narrow<float> {
  static __device__ float of(float value) { return value; }
};
template <>
struct Narrow<double> {
  static __device__ double of(double value) { return value; }
};
template <>
struct Narrow<f16> {
  static __device__ f16 of(float value) { return {__half_as_ushort(__float2half_rn(value))}; }
};
template <>
struct Narrow<bf16> {
  static __device__ bf16 of(float value) {
    const unsigned bits = __float_as_uint(value);
    if (value != value) return {static_cast<unsigned short>((bits >> 16) | 0x40u)};
    return {static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
  }
};

/// kWidth neighbouring elements, moved by one instruction. The address must be a multiple of its
/// size.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T item[kWidth];
};

namespace detail {
template <int kBytes>
struct Word;
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};
}  // namespace detail

/// Through the read-only path: for B, whose rows are read again and again.
template <int kWidth, class T>
__device__ inline Pack<T, kWidth> load_kept(const T* from) {
  using Word = typename detail::Word<sizeof(T) * kWidth>::type;
  const Word word = __ldg(reinterpret_cast<const Word*>(from));
  Pack<T, kWidth> pack;
  memcpy(&pack, &word, sizeof word);
  return pack;
}

/// Evicted first: for A and C, which pass by once and must not push B out of the caches.
template <class T>
__device__ inline T load_once(const T* from) {
  using Word = typename detail::Word<sizeof(T)>::type;
  const Word word = __ldcs(reinterpret_cast<const Word*>(from));
  T item;
  memcpy(&item, &word, sizeof word);
  return item;
}
template <class T, int kWidth>
__device__ inline void store_once(T* to, const Pack<T, kWidth>& pack) {
  if constexpr (sizeof(T) * kWidth <= 16) {
    using Word = typename detail::Word<sizeof(T) * kWidth>::type;
    Word word;
    memcpy(&word, &pack, sizeof word);
    __stcs(reinterpret_cast<Word*>(to), word);
  } else {  // 16-bit values, 32-bit results: two halves
    Pack<T, kWidth / 2> half;
    memcpy(&half, &pack.item[0], sizeof half);
    store_once<T, kWidth / 2>(to, half);
    memcpy(&half, &pack.item[kWidth / 2], sizeof half);
    store_once<T, kWidth / 2>(to + kWidth / 2, half);
  }
}

/// The (add, multiply) pair of a semiring, with the reference's treatment of NaN.
template <Semiring kSemiring, class Number>
struct Ring {
  static __device__ Number zero() {
    if constexpr (kSemiring == Semiring::min_plus) return static_cast<Number>(INFINITY);
    if constexpr (kSemiring == Semiring::max_times) return static_cast<Number>(-INFINITY);
    return 0;
  }
  static __device__ Number add(Number sum, Number term) {
    if constexpr (kSemiring == Semiring::plus_times) return sum + term;
    if constexpr (kSemiring == Semiring::min_plus) return term < sum || term != term ? term : sum;
    if constexpr (kSemiring == Semiring::max_times) return term > sum || term != term ? term : sum;
    return sum != 0 || term != 0 ? Number{1} : Number{0};
  }
  static __device__ Number add_product(Number sum, Number x, Number y) {
    if constexpr (kSemiring == Semiring::plus_times) return fma(x, y, sum);
    if constexpr (kSemiring == Semiring::min_plus) return add(sum, x + y);
    if constexpr (kSemiring == Semiring::max_times) return add(sum, x * y);
    return add(sum, x != 0 && y != 0 ? Number{1} : Number{0});
  }
};

/// kWidth running sums of neighbouring columns.
template <class Types, int kWidth>
struct Sums {
  using Number = typename Types::Accumulate;
  using Algebra = Ring<Types::kSemiring, Number>;
  Number item[kWidth];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) item[i] = Algebra::zero();
  }
  __device__ void add_product(Number x, const Pack<typename Types::Value, kWidth>& y) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      item[i] = Algebra::add_product(item[i], x, widen<Number>(y.item[i]));
    }
  }

  /// Adds the sums of the lane whose number differs in the bits of `apart`; called by whole warps, after
  /// which both lanes hold the same.
  __device__ void add_from_lane_apart(int apart) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      item[i] = Algebra::add(item[i], __shfl_xor_sync(0xffffffffu, item[i], apart));
    }
  }

  /// C = alpha * sums + beta * C; C is read only if beta is not 0.
  __device__ void store(typename Types::Output* c, Number alpha, Number beta) const {
    Sums scaled = *this;
    if constexpr (Types::kSemiring == Semiring::plus_times) {
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
/// C must all be multiples. The narrower side decides.
template <class Value, class Output>
int widest_access(const DeviceDenseView<const Value>& b, const DeviceDenseView<Output>& c) {
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

/// Calls `f` with the width as a constant. Only whole and half 16-byte accesses and single elements
/// are compiled; the rarer semirings make do with single elements.
template <class Types, class F>
void with_width(int width, F&& f) {
  constexpr int kFull = 16 / static_cast<int>(sizeof(typename Types::Value));
  if constexpr (Types::kSemiring == Semiring::plus_times) {
    if (width == kFull) return f(std::integral_constant<int, kFull>{});
    if constexpr (kFull > 2) {
      if (width == kFull / 2) return f(std::integral_constant<int, kFull / 2>{});
    }
  }
  f(std::integral_constant<int, 1>{});
}

/// What `with_width` makes of a width.
template <class Types>
int compiled_width(int width) {
  int compiled = 1;
  with_width<Types>(width, [&](auto constant) { compiled = constant; });
  return compiled;
}

/// log2 of the smallest power of two that is at least `count`, for count >= 1.
inline int log2_ceiling(Offset count) {
  int log2 = 0;
  while ((Offset{1} << log2) < count) ++log2;
  return log2;
}

/// The largest grid in y and z; wider products are launched in several goes.
inline constexpr Offset kMaxGridY = 65535;

}  // namespace csrkit::gpu
