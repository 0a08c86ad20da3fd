// What the cooperative kernels (persistent, streamed, one_pass) share.
#pragma once

#include <algorithm>

#include "gpu/device/cuda_check.h"
#include "gpu/solve/vectors.cuh"

namespace csrkit::gpu {

/// Threads of a block. There is one block per multiprocessor, as large as possible: barriers of the
/// grid, and sums over all blocks, cost in proportion to the number of blocks.
inline constexpr int kPersistentThreads = 1024;

/// How many blocks of a kernel run at once, and the shared memory that each may ask for.
struct PersistentLimits {
  int blocks;
  Offset shared_bytes;
};

/// Also allows `kernel` all of that shared memory.
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

/// A barrier of the grid, called by one thread of every block. Other threads need a barrier of the
/// block before it for their writes, and one after it for their reads (which must bypass L1).
/// Cooperative groups' barrier has these two built in; here the sums over the block have them
/// anyway. The highest bit of `counter` flips when all blocks have come: every block adds 1, block
/// 0 adds the rest.
__device__ inline void wait_for_grid(unsigned* counter) {
  constexpr unsigned kTurn = 0x80000000u;
  unsigned seen;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  const unsigned turn = seen & kTurn;  // cannot flip before this block has come
  const unsigned mine = blockIdx.x == 0 ? kTurn - (gridDim.x - 1) : 1;
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(mine) : "memory");
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
  } while ((seen & kTurn) == turn);
}

/// The first warp calls use(sums) with the sums of all threads of the block. Afterwards every
/// thread sees what that wrote. By all threads.
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

/// The same, but only thread 0 calls use(sums).
template <class Use>
__device__ void with_block_sums(TwoSums mine, const Use& use) {
  with_warp_of_sums(mine, [&](const TwoSums& sums) {
    if (threadIdx.x == 0) use(sums);
  });
}

/// The same for the sums of all threads of the grid: thread 0 of every block gets the same bits. It
/// contains a barrier of the grid. The call uses the parts `which` and `which` + 1 of
/// state.partials until the next barrier.
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

/// By one thread of every block: updates the column from r'r and r'z, and writes the record of
/// iteration `made`.
template <class T>
__device__ void decide_after_residual(const CgState<T>& state, Index made, const TwoSums& sums,
                                      CgColumn* column) {
  column->after_residual(sums.first, sums.second);
  if (blockIdx.x == 0) state.records[made] = {column->norm, column->alpha, column->beta};
}

/// At the end: writes the column back to global memory for the host.
template <class T>
__device__ void leave_column(const CgState<T>& state, const CgColumn& column) {
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  state.column[0] = column;
  if (column.state == ColumnState::last_step) state.column[0].state = ColumnState::idle;
}

}  // namespace csrkit::gpu
