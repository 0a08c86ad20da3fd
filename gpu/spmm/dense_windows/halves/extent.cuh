// The power of two that scales a row of A, or a column of a part of B.
#pragma once

#include <cuda_runtime.h>

#include "gpu/spmm/dense_windows/halves/windows.h"

namespace csrkit::gpu::dense_windows {

__device__ inline int exponent_of(float x) {
  return static_cast<int>(__float_as_uint(x) >> 23 & 0xffu) - 127;
}
__device__ inline float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}

/// The largest magnitude and the smallest one that is not 0; 0 and infinity if there are none.
struct Extent {
  float largest = 0, smallest = INFINITY;

  __device__ void take(float x) {
    const float size = fabsf(x);
    largest = size > largest || size != size ? size : largest;  // a NaN stays
    if (size != 0) smallest = fminf(smallest, size);
  }
  __device__ void take(float2 other) {
    largest = other.x > largest || other.x != other.x ? other.x : largest;
    smallest = fminf(smallest, other.y);
  }
  __device__ bool fits(int least_exponent) const {
    if (largest == 0) return true;
    if (!(largest < INFINITY)) return false;
    const int top = exponent_of(largest);
    return top >= least_exponent && top <= kMostExponent &&
           exponent_of(smallest) >= top - kExponentRange;
  }
};

}  // namespace csrkit::gpu::dense_windows
