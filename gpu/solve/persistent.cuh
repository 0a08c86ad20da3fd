// What the persistent kernels share.
#pragma once

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

/// A barrier of the grid, by one thread of a block: a barrier of the block before it covers what
/// the other threads wrote, one behind it what they read (past L1). That of cooperative groups has
/// these two built in, although a sum over the block has them anyway. The highest bit of `counter`
/// turns over when all have come: every block adds 1, the first what is missing to that.
__device__ inline void wait_for_grid(unsigned* counter) {
  constexpr unsigned kTurn = 0x80000000u;
  unsigned seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  const unsigned turn = seen & kTurn;  // cannot turn over before this block has come
  const unsigned mine = blockIdx.x == 0 ? kTurn - (gridDim.x - 1) : 1;
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(mine) : "memory");
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  } while ((seen & kTurn) == turn);
}

/// The first warp calls use(sums) with the sums of all threads of the block; afterwards every
/// thread sees what it wrote. To be called by all of them.
template <class Use>
__device__ void with_warp_of_sums(TwoSums mine, const Use& use) {
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
  if (warp == 0) use(sum_over_warp({first[lane], second[lane]}));
  __syncthreads();
}

/// As above, by thread 0 alone.
template <class Use>
__device__ void with_block_sums(TwoSums mine, const Use& use) {
  with_warp_of_sums(mine, [&](const TwoSums& sums) {
    if (threadIdx.x == 0) use(sums);
  });
}

/// The same for the sums of all threads of the grid, which thread 0 of every block gets with the
/// same bits: a barrier of the grid. `which` and the next number of state.partials are this call's
/// until the next barrier has been passed.
template <class T, class Use>
__device__ void with_grid_sums(TwoSums mine, const CgState<T>& state, int which, const Use& use) {
  double* const partials = state.partials + Offset{which} * kSumBlocks;
  with_warp_of_sums(mine, [&](const TwoSums& of_block) {
    if (threadIdx.x == 0) {
      partials[blockIdx.x] = of_block.first;
      partials[kSumBlocks + blockIdx.x] = of_block.second;
      wait_for_grid(state.barrier);
    }
    __syncwarp();
    TwoSums sums;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += kWarpLanes) {
      sums.first += __ldcg(partials + block);
      sums.second += __ldcg(partials + kSumBlocks + block);
    }
    sums = sum_over_warp(sums);
    if (threadIdx.x == 0) use(sums);
  });
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
