// From an inner product to an element of C: a factor from A, alpha, beta, and rounding to C's kind.
#pragma once

#include "core/base/value_kind.h"
#include "gpu/device/arithmetic.cuh"

namespace csrkit::gpu::sddmm {

/// Everything but the inner products. `c` and `a_values` have one number for each entry of A.
struct Ends {
  ValueKind a_kind;  // none: the factor is 1
  const void* a_values;
  ValueKind c_kind;
  void* c;
  double alpha, beta;
};

template <class Accumulate>
__device__ Accumulate factor_at(const Ends& ends, Offset at) {
  switch (ends.a_kind) {
    case ValueKind::f32: return widen<Accumulate>(static_cast<const float*>(ends.a_values)[at]);
    case ValueKind::f16: return widen<Accumulate>(static_cast<const f16*>(ends.a_values)[at]);
    case ValueKind::bf16: return widen<Accumulate>(static_cast<const bf16*>(ends.a_values)[at]);
    case ValueKind::f64:
      return static_cast<Accumulate>(static_cast<const double*>(ends.a_values)[at]);
    default: return 1;
  }
}

template <class Output, class Accumulate>
__device__ void store_as_kind(const Ends& ends, Offset at, Accumulate scaled) {
  Output* const to = static_cast<Output*>(ends.c) + at;
  if (ends.beta != 0) scaled += static_cast<Accumulate>(ends.beta) * widen<Accumulate>(*to);
  *to = Narrow<Output>::of(scaled);
}

template <class Accumulate>
__device__ void store_entry(const Ends& ends, Offset at, Accumulate dot) {
  if (ends.a_kind != ValueKind::none) dot = factor_at<Accumulate>(ends, at) * dot;
  const Accumulate scaled = static_cast<Accumulate>(ends.alpha) * dot;
  if constexpr (std::is_same_v<Accumulate, double>) {
    store_as_kind<double>(ends, at, scaled);
  } else if (ends.c_kind == ValueKind::f16) {
    store_as_kind<f16>(ends, at, scaled);
  } else if (ends.c_kind == ValueKind::bf16) {
    store_as_kind<bf16>(ends, at, scaled);
  } else {
    store_as_kind<float>(ends, at, scaled);
  }
}

}  // namespace csrkit::gpu::sddmm
