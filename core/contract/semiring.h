// The semirings: names, and the arithmetic of host and device code, written once.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#ifdef __CUDACC__
#define CSRKIT_HOST_DEVICE __host__ __device__
#else
#define CSRKIT_HOST_DEVICE
#endif

namespace csrkit {

/// The (add, multiply) pair that replaces (+, *). `or_and` computes on truth values: non-zero is
/// true, the result is 0 or 1. The empty sum is 0, +inf, -inf and 0 respectively.
enum class Semiring : std::uint8_t { plus_times, min_plus, max_times, or_and };
const char* name_of(Semiring semiring);
Semiring parse_semiring(const std::string& name);

/// The arithmetic of a semiring on float or double. A NaN, once in a sum, stays. There are no
/// branches (| and &, not || and &&), so that loops over these functions become vectors.
template <Semiring kSemiring, class Number>
struct SemiringArithmetic {
  CSRKIT_HOST_DEVICE static Number empty_sum() {
    if constexpr (kSemiring == Semiring::min_plus) return static_cast<Number>(INFINITY);
    if constexpr (kSemiring == Semiring::max_times) return -static_cast<Number>(INFINITY);
    return 0;
  }
  CSRKIT_HOST_DEVICE static Number product(Number x, Number y) {
    if constexpr (kSemiring == Semiring::min_plus) return x + y;
    if constexpr (kSemiring == Semiring::or_and) {
      return ((x != 0) & (y != 0)) ? Number{1} : Number{0};
    }
    return x * y;
  }
  CSRKIT_HOST_DEVICE static Number add(Number sum, Number term) {
    if constexpr (kSemiring == Semiring::min_plus) {
      return ((sum <= term) | (sum != sum)) ? sum : term;
    }
    if constexpr (kSemiring == Semiring::max_times) {
      return ((sum >= term) | (sum != sum)) ? sum : term;
    }
    if constexpr (kSemiring == Semiring::or_and) {
      return ((sum != 0) | (term != 0)) ? Number{1} : Number{0};
    }
    return sum + term;
  }
  /// sum + x * y; for plus_times one fused operation in device code.
  CSRKIT_HOST_DEVICE static Number add_product(Number sum, Number x, Number y) {
#ifdef __CUDA_ARCH__
    if constexpr (kSemiring == Semiring::plus_times) return fma(x, y, sum);
#endif
    return add(sum, product(x, y));
  }
};

}  // namespace csrkit
