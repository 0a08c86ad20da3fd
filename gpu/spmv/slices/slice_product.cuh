// The product of one slice, for any storage of its entries.
#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spmv/device_spmv.h"
#include "gpu/spmv/slices/slices.h"

namespace csrkit::gpu {

/// One entry of a lane's row; column -1 is padding, which must not meet x: 0 times infinity is NaN.
template <class Number>
struct SliceEntry {
  Index col;
  Number value;
};

/// Adds up this lane's row over the steps part, part + parts, ... below `width`. `entry_at(step)`
/// gives a SliceEntry. A plain loop, which the compiler unrolls: 64 warps a multiprocessor with few
/// registers each keep memory busy, not few warps with many loads each.
template <class Types, class Algebra, class EntryAt>
__device__ inline typename Types::Number sum_of_steps(int part, int parts, Index width,
                                                      const InputVector<typename Types::Vector>& x,
                                                      const Algebra& algebra,
                                                      const EntryAt& entry_at) {
  using Number = typename Types::Number;
  Number sum = algebra.empty_sum();
  const auto add = [&](Index step) {
    const SliceEntry<Number> entry = entry_at(step);
    if (entry.col >= 0) {
      sum = algebra.add_product(sum, entry.value, x.template at<Number>(entry.col));
    }
  };
  if (parts == 1) {  // a separate loop, in which addresses are consecutive
    for (Index step = 0; step < width; ++step) add(step);
  } else {
    for (Index step = part; step < width; step += parts) add(step);
  }
  return sum;
}

/// A warp's place: a block has 8 warps, `parts` neighbours of them for a slice.
inline constexpr int kSliceThreads = 256, kSliceWarps = kSliceThreads / kSliceRows;
/// Blocks per multiprocessor: 64 warps, with at most 32 registers a lane.
inline constexpr int kSliceBlocks = 8;
struct SliceShare {
  Index slice;
  int part;
  int lane;
};

/// `parts` is a power of two: a division would take longer than the product of a short row.
__device__ inline SliceShare slice_share(int parts) {
  const int warp = static_cast<int>(threadIdx.x) / kSliceRows;
  const int log2_parts = __ffs(parts) - 1;
  const Index slice =
      static_cast<Index>(blockIdx.x) * (kSliceWarps >> log2_parts) + (warp >> log2_parts);
  return {slice, warp & (parts - 1), static_cast<int>(threadIdx.x) % kSliceRows};
}

inline unsigned slice_blocks(Index slices, int parts) {
  const Offset per_block = kSliceWarps / parts;
  return static_cast<unsigned>((slices + per_block - 1) / per_block);
}

/// Adds up the parts of each row, in their order, and stores y. All threads of the block call it;
/// `row` is -1 where there is none.
template <class Types, class Algebra>
__device__ inline void store_slice(const SliceShare& share, int parts, Index row,
                                   typename Types::Number sum, const OutputUpdate<Types>& y,
                                   const Algebra& algebra) {
  __shared__ typename Types::Number sums[kSliceThreads];
  if (parts > 1) {
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (share.part > 0) return;
    for (int part = 1; part < parts; ++part) {
      sum = algebra.add(sum, sums[threadIdx.x + static_cast<unsigned>(part * kSliceRows)]);
    }
  }
  if (row >= 0) y.store(row, sum);
}

}  // namespace csrkit::gpu
