// What the persistent kernels share.
#pragma once

#include "gpu/solve/vectors.cuh"

namespace csrkit::gpu {

/// Threads of a block. There is one block per multiprocessor: a barrier of the grid costs by the
/// number of blocks, and so do sums that every block makes of all blocks' sums.
inline constexpr int kPersistentThreads = 1024;

/// The sums of the blocks' partial numbers `which` and the next one, for the first warp of every
/// block, which has to call it as a whole; all in the same order.
__device__ inline TwoSums sums_of_blocks(const double* partials, int which, bool with_next) {
  TwoSums mine;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += kWarpLanes) {
    mine.first += __ldcg(partials + which * kSumBlocks + block);
    if (with_next) mine.second += __ldcg(partials + (which + 1) * kSumBlocks + block);
  }
  for (int offset = kWarpLanes / 2; offset > 0; offset /= 2) {
    mine.first += __shfl_xor_sync(kAllLanes, mine.first, offset);
    mine.second += __shfl_xor_sync(kAllLanes, mine.second, offset);
  }
  return mine;
}

/// p'q from all blocks, and what follows of it. By all threads, after a barrier of the grid.
template <class T>
__device__ void decide_after_product(const CgState<T>& state, CgColumn* column) {
  if (threadIdx.x < kWarpLanes) {
    const double curvature = sums_of_blocks(state.partials, 2, false).first;
    if (threadIdx.x == 0) column->after_product(curvature);
  }
  __syncthreads();
}

/// r'r and r'z from all blocks, what follows of them, and the record of iteration `made`.
template <class T>
__device__ void decide_after_residual(const CgState<T>& state, Index made, CgColumn* column) {
  if (threadIdx.x < kWarpLanes) {
    const TwoSums sums = sums_of_blocks(state.partials, 0, true);
    if (threadIdx.x == 0) {
      column->after_residual(sums.first, sums.second);
      if (blockIdx.x == 0) state.records[made] = {column->norm, column->alpha, column->beta};
    }
  }
  __syncthreads();
}

}  // namespace csrkit::gpu
