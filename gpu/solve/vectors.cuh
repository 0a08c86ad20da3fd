// Sums over a block, and over the blocks of a launch, in an order that does not change.
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/solve/vectors.h"

namespace csrkit::gpu {

struct TwoSums {
  double first = 0, second = 0;
};

/// Of all lanes of a warp; every lane gets them. To be called by all of them.
__device__ inline TwoSums sum_over_warp(TwoSums mine) {
  for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
    mine.first += __shfl_xor_sync(kAllLanes, mine.first, offset);
    mine.second += __shfl_xor_sync(kAllLanes, mine.second, offset);
  }
  return mine;
}

/// Of all threads of a block; every thread gets them. To be called by all of them.
__device__ inline TwoSums sum_over_block(TwoSums mine) {
  constexpr int kWarps = kThreads / kWarpLanes;
  __shared__ double first[kWarps], second[kWarps];
  mine = sum_over_warp(mine);
  __syncthreads();  // whoever reads the sums of the last call is done
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

/// What a thread loads of the vectors at one place.
template <class T>
struct Loaded {
  T a, b, c;
};

/// Calls use(loaded, i) for i = first, first + step, ... with what load(i) gave: kBatch numbers of
/// each vector are on their way before the first store, which could be to where a later load reads
/// for all that a compiler knows.
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

/// The sums of `blocks` partial ones of a column, by one block.
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

/// By one thread: what the sums mean for a column, and its record of the iteration.
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
