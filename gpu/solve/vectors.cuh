// Sums over a block, and over the blocks of a launch, in a fixed order.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

struct TwoSums {
  double first = 0, second = 0;
};

/// Sums over a warp; every lane gets them. By all lanes.
__device__ inline TwoSums sum_over_warp(TwoSums mine) {
  for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
    mine.first += __shfl_xor_sync(kAllLanes, mine.first, offset);
    mine.second += __shfl_xor_sync(kAllLanes, mine.second, offset);
  }
  return mine;
}

/// Sums over a block; every thread gets them. By all threads.
__device__ inline TwoSums sum_over_block(TwoSums mine) {
  constexpr int kWarps = kThreads / kWarpLanes;
  __shared__ double first[kWarps], second[kWarps];
  mine = sum_over_warp(mine);
  __syncthreads();  // all threads have read the sums of the last call
  if (threadIdx.x % kWarpLanes == 0) {
    first[threadIdx.x / kWarpLanes] = mine.first;
    second[threadIdx.x / kWarpLanes] = mine.second;
  }
  __syncthreads();
  TwoSums sums;
  for (int warp = 0; warp < kWarps; ++warp) {
    sums.first += first[warp];
    sums.second += second[warp];
  }
  return sums;
}

/// What a thread loads of up to three vectors at one row.
template <class T>
struct Loaded {
  T a, b, c;
};

/// Calls use(load(i), i) for i = first, first + step, ... below `end`. kBatch loads of each vector
/// are in flight before the first store: the compiler cannot reorder them, as a store might alias a
/// later load.
template <class T, int kBatch, class Load, class Use>
__device__ void for_each_batch(Offset first, Offset end, Offset step, const Load& load,
                               const Use& use) {
  for (; first < end; first += kBatch * step) {
    Loaded<T> loaded[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const Offset i = first + k * step;
      if (i < end) loaded[k] = load(i);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      const Offset i = first + k * step;
      if (i < end) use(loaded[k], i);
    }
  }
}

/// The totals of `blocks` partial sums of a column, by one block.
template <class T>
__device__ TwoSums sum_partials(const CgState<T>& state, Index column, int blocks) {
  const double* const partials = state.partials + Offset{column} * kPartialSums * kSumBlocks;
  TwoSums mine;
  for (int block = static_cast<int>(threadIdx.x); block < blocks; block += kThreads) {
    mine.first += __ldcg(partials + block);
    mine.second += __ldcg(partials + kSumBlocks + block);
  }
  return sum_over_block(mine);
}

template <class T>
__device__ void store_partial(const CgState<T>& state, Index column, int block,
                              const TwoSums& sums) {
  double* const partials = state.partials + Offset{column} * kPartialSums * kSumBlocks;
  partials[block] = sums.first;
  partials[kSumBlocks + block] = sums.second;
}

/// By one thread: updates a column from its sums, and writes its record of the iteration.
template <class T>
__device__ void decide(const CgState<T>& state, Index column, After after, const TwoSums& sums) {
  CgColumn& scalars = state.column[column];
  const double rz = state.is_plain() ? sums.first : sums.second;
  if (after == After::begin) {
    scalars.begin(sums.first, rz);
  } else if (after == After::product) {
    scalars.after_product(sums.first);
  } else {
    scalars.after_residual(sums.first, rz);
    const Index row = state.iteration[column]++;
    if (row < kRecordedIterations) {
      state.records[Offset{row} * state.columns + column] = {scalars.norm, scalars.alpha,
                                                             scalars.beta};
    }
  }
}

}  // namespace csrkit::gpu
