// The sum of a number over all blocks before a block, without a launch of its own.
// Source: Merrill and Garland 2016 (decoupled look-back)
#pragma once

#include "core/base/types.h"
#include "gpu/device/warp.cuh"

namespace csrkit::gpu {

/// By one warp: returns the sum of all blocks before this one, whose own sum is `of_block`.
/// `states`: a number for each block, zero at first; then a block's own sum or that of all blocks
/// up to it, and which of the two. Sums are below 2^62. Blocks start in order, so a block that is
/// waited for is running. A lane looks at several states at once: each look takes as long as a read
/// of L2, and hundreds of blocks are on their way.
__device__ inline unsigned long long sum_of_blocks_before(volatile unsigned long long* states,
                                                          unsigned long long of_block) {
  constexpr unsigned long long kOfBlock = 1ull << 62, kOfAll = 2ull << 62;
  constexpr int kOfALane = 4;
  const auto lane = static_cast<int>(threadIdx.x & 31);
  const Offset block = blockIdx.x;
  if (lane == 0) states[block] = (block == 0 ? kOfAll : kOfBlock) | of_block;
  unsigned long long before = 0;
  unsigned with_all = 0;
  for (Offset last = block - 1; last >= 0 && with_all == 0; last -= 32 * kOfALane) {
    const Offset nearest = last - lane * kOfALane;
    unsigned long long seen[kOfALane];
    bool are_told = false;
    do {
      are_told = true;
#pragma unroll
      for (int i = 0; i < kOfALane; ++i) {
        seen[i] = nearest - i < 0 ? kOfAll : states[nearest - i];
        are_told = are_told && seen[i] != 0;
      }
    } while (!are_told);
    __syncwarp();
    // Up to the nearest block that has published the sum of all before it.
    unsigned long long sum = 0;
    bool is_found = false;
#pragma unroll
    for (int i = 0; i < kOfALane; ++i) {
      if (!is_found) sum += seen[i] & (kOfBlock - 1);
      is_found = is_found || seen[i] >= kOfAll;
    }
    with_all = __ballot_sync(kAllLanes, is_found);
    if ((with_all & ((1u << lane) - 1)) != 0) sum = 0;
    for (int distance = 1; distance < 32; distance *= 2) {
      sum += __shfl_xor_sync(kAllLanes, sum, distance);
    }
    before += sum;
  }
  if (lane == 0 && block > 0) states[block] = kOfAll | (before + of_block);
  return before;
}

}  // namespace csrkit::gpu
