// Numbers on the device: stored values to numbers and back, vectors of them, semirings.
#pragma once

#include <cuda_fp16.h>

#include <cstring>

#include "core/base/half.h"
#include "core/base/types.h"
#include "core/contract/semiring.h"

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

/// Number to stored value: one rounding, to nearest even; a NaN stays a NaN.
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

/// Plus and times, known to the compiler. It has no members, so sums that derive from it hold only
/// numbers.
template <class Number>
struct PlusTimes : SemiringArithmetic<Semiring::plus_times, Number> {
  PlusTimes() = default;
  explicit PlusTimes(Semiring) {}
};

/// Any semiring, chosen at run time: one kernel instead of one per semiring. All threads of a
/// launch take the same branch.
template <class Number>
struct AnySemiring {
  Semiring semiring;

  AnySemiring() = default;
  explicit AnySemiring(Semiring chosen) : semiring(chosen) {}
  __device__ Number empty_sum() const {
    return with_arithmetic([](auto arithmetic) { return arithmetic.empty_sum(); });
  }
  __device__ Number add(Number sum, Number term) const {
    return with_arithmetic([&](auto arithmetic) { return arithmetic.add(sum, term); });
  }
  __device__ Number add_product(Number sum, Number x, Number y) const {
    return with_arithmetic([&](auto arithmetic) { return arithmetic.add_product(sum, x, y); });
  }

 private:
  template <class F>
  __device__ Number with_arithmetic(F&& f) const {
    switch (semiring) {
      case Semiring::min_plus: return f(SemiringArithmetic<Semiring::min_plus, Number>());
      case Semiring::max_times: return f(SemiringArithmetic<Semiring::max_times, Number>());
      case Semiring::or_and: return f(SemiringArithmetic<Semiring::or_and, Number>());
      default: return f(SemiringArithmetic<Semiring::plus_times, Number>());
    }
  }
};

/// log2 of the smallest power of two that is at least `count`, for count >= 1.
inline int log2_ceiling(Offset count) {
  int log2 = 0;
  while ((Offset{1} << log2) < count) ++log2;
  return log2;
}

}  // namespace csrkit::gpu
