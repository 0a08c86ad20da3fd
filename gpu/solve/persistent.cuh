// What the persistent kernels share.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/solve/vectors.cuh"

namespace csrkit::gpu {

/// Threads of a block. There is one block per multiprocessor: a barrier of the grid costs by the
/// number of blocks, and so do sums that every block makes of all blocks' sums.
inline constexpr int kPersistentThreads = 1024;

/// How many blocks of a kernel run at once, and the shared memory that one of them may ask for.
struct PersistentLimits {
  int blocks;
  Offset shared_bytes;
};

/// Allows `kernel` as much shared memory as there is.
template <class Kernel>
PersistentLimits limits_of(Kernel* kernel, int device) {
  int multiprocessors = 0, shared_bytes = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CHECK_CUDA(
      cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  cudaFuncAttributes attributes{};
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  const Offset room = shared_bytes - static_cast<Offset>(attributes.sharedSizeBytes);
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(room)));
  return {std::min(multiprocessors, kSumBlocks), room};
}

/// The one column that a persistent kernel works on, in a block's shared memory.
__device__ inline CgColumn& shared_column() {
  // A shared variable may not have a constructor.
  __shared__ alignas(CgColumn) unsigned char bytes[sizeof(CgColumn)];
  return *reinterpret_cast<CgColumn*>(bytes);
}

/// Thread 0 calls use(sums) with the sums of all threads of the block; afterwards every thread sees
/// what it wrote. To be called by all of them.
template <class Use>
__device__ void with_block_sums(TwoSums mine, const Use& use) {
  static_assert(kPersistentThreads == kWarpLanes * kWarpLanes, "a lane takes the sums of a warp");
  __shared__ double first[kWarpLanes], second[kWarpLanes];
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  mine = sum_over_warp(mine);
  if (lane == 0) {
    first[warp] = mine.first;
    second[warp] = mine.second;
  }
  __syncthreads();
  if (warp == 0) {
    const TwoSums sums = sum_over_warp({first[lane], second[lane]});
    if (lane == 0) use(sums);
  }
  __syncthreads();
}

/// The same for the sums of all threads of the grid, which every block hands to its thread 0, with
/// the same bits: a barrier of the grid. `partials` has places for all blocks that are this call's
/// until the next barrier has been passed.
template <class Use>
__device__ void with_grid_sums(TwoSums mine, double* partials, const Use& use) {
  with_block_sums(mine, [&](const TwoSums& sums) {
    partials[blockIdx.x] = sums.first;
    partials[kSumBlocks + blockIdx.x] = sums.second;
  });
  cooperative_groups::this_grid().sync();
  if (threadIdx.x < kWarpLanes) {
    TwoSums sums;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kWarpLanes) {
      sums.first += __ldcg(partials + block);
      sums.second += __ldcg(partials + kSumBlocks + block);
    }
    sums = sum_over_warp(sums);
    if (threadIdx.x == 0) use(sums);
  }
  __syncthreads();
}

/// By one thread of every block: what follows of r'r and r'z, and the record of iteration `made`.
template <class T>
__device__ void decide_after_residual(const CgState<T>& state, Index made, const TwoSums& sums,
                                      CgColumn* column) {
  column->after_residual(sums.first, sums.second);
  if (blockIdx.x == 0) state.records[made] = {column->norm, column->alpha, column->beta};
}

/// At the end: the column goes back to where the host looks for it.
template <class T>
__device__ void leave_column(const CgState<T>& state, const CgColumn& column) {
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  state.column[0] = column;
  if (column.state == ColumnState::last_step) state.column[0].state = ColumnState::idle;
}

}  // namespace csrkit::gpu
