// Groups of lanes that make one row of C together: 8, 16 or 32 lanes of a warp, or a whole block.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "gpu/device/device_csr.h"
#include "gpu/device/warp.cuh"

namespace csrkit::gpu {

template <int kLanes>
struct Group {
  static_assert(kLanes == 8 || kLanes == 16 || kLanes % 32 == 0, "part of a warp, or whole warps");
  static constexpr bool kIsBlock = kLanes > 32;  // else it stays within a warp
  // entries of A that are loaded at a time
  static constexpr int kBatch = kLanes < 32 ? kLanes : 32;
  static constexpr int kWarps = kLanes < 32 ? 1 : kLanes / 32;

  static __device__ int rank() {
    return static_cast<int>(kIsBlock ? threadIdx.x : threadIdx.x & (kLanes - 1));
  }
  static __device__ int lane() { return static_cast<int>(threadIdx.x & 31); }

  static __device__ void sync() {
    if constexpr (kIsBlock) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }

  /// For loops with shuffles inside: they must go on while any group of the warp has work.
  static __device__ bool any(bool condition) {
    if constexpr (kLanes < 32) return __any_sync(kAllLanes, condition);
    return condition;
  }

  /// Whether `condition` holds for all lanes of the warp or block. By all of them.
  static __device__ bool all(bool condition) {
    if constexpr (kIsBlock) return __syncthreads_and(static_cast<int>(condition)) != 0;
    return __all_sync(kAllLanes, condition) != 0;
  }

  /// Returns the sum of the values of lower ranks; `total`: of all. Only groups of a whole block
  /// use `scratch`, 32 numbers in shared memory; a barrier comes before it is written.
  template <class Number>
  static __device__ Number exclusive_sum(Number value, Number& total, Number* scratch) {
    Number sum = value;
#pragma unroll
    for (int distance = 1; distance < kBatch; distance *= 2) {
      const Number other = __shfl_up_sync(kAllLanes, sum, distance, kBatch);
      if ((lane() & (kBatch - 1)) >= distance) sum += other;
    }
    if constexpr (!kIsBlock) {
      total = __shfl_sync(kAllLanes, sum, kBatch - 1, kBatch);
      return sum - value;
    } else {
      const int warp = static_cast<int>(threadIdx.x >> 5);
      __syncthreads();
      if (lane() == 31) scratch[warp] = sum;
      __syncthreads();
      Number of_warps = lane() < kWarps ? scratch[lane()] : Number{0};
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const Number other = __shfl_up_sync(kAllLanes, of_warps, distance);
        if (lane() >= distance) of_warps += other;
      }
      total = __shfl_sync(kAllLanes, of_warps, kWarps - 1);
      const Number before = __shfl_sync(kAllLanes, of_warps, warp > 0 ? warp - 1 : 0);
      return sum - value + (warp > 0 ? before : Number{0});
    }
  }
};

__host__ __device__ constexpr int log2_of(int power) {
  return power <= 1 ? 0 : 1 + log2_of(power / 2);
}

/// Multiplicative hashing: the top bits of the product.
template <int kSlots>
__device__ unsigned hash_slot(unsigned key) {
  constexpr int kLog2 = log2_of(kSlots);
  return (key * 0x9E3779B1u) >> (32 - kLog2);
}

/// First position in [first, last) whose column is at least `column`; `last` if there is none.
inline __device__ Offset lower_bound(const Index* col_indices, Offset first, Offset last,
                                     Offset column) {
  while (first < last) {
    const Offset middle = (first + last) >> 1;
    if (__ldg(col_indices + middle) < column) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

template <class Value>
__device__ Value value_of(const DeviceCsrView<Value>& matrix, Offset position) {
  return matrix.values != nullptr ? __ldg(matrix.values + position) : Value{1};
}

}  // namespace csrkit::gpu
