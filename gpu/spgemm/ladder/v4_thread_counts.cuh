// v4_thread_counts: threads count the entries they were the first to touch; warps add the counts
// up.
// Owns     a block: one row; a thread: every kBlock-th entry of A's row, with its row of B
// Reads    as v3, but the tile is not walked to count: the atomic that marks an entry as existing
//          returns what was marked before, so exactly one thread sees each entry as new. (Asking
//          the returned *sum* for zero instead would count an entry twice whose partial sum passes
//          through zero, and never one whose products are all zero.)
// Launch   a block per row, kBlock threads, tiles of kTile columns: both template parameters, found
//          by searching 64 ... 1024 x 64 ... 4096 (docs/kernel_ladder.md)
// Needs    nothing
// Against  v3: one walk over the tile less, and one shared atomic per warp instead of one per entry
//          to count them. Bad: rows of B are read again for every tile of columns; the output still
//          has to be sorted.

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/device/warp.cuh"
#include "gpu/spgemm/ladder/rung.h"

namespace csrkit::gpu {

template <int kBlock, int kTile, class Value>
__global__ void __launch_bounds__(kBlock)
    thread_counts(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Value alpha, CooArrays<Value> c) {
  static_assert(kBlock % 32 == 0 && kTile % kWordBits == 0, "whole warps, whole words of bits");
  __shared__ Value sums[kTile];
  __shared__ unsigned exists[kTile / kWordBits];
  __shared__ int found, placed;
  __shared__ unsigned long long reserved;
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  if (begin == end) return;
  for (Offset first = 0; first < b.cols; first += kTile) {
    for (int i = threadIdx.x; i < kTile; i += kBlock) sums[i] = 0;
    for (int i = threadIdx.x; i < kTile / kWordBits; i += kBlock) exists[i] = 0;
    if (threadIdx.x == 0) found = placed = 0;
    __syncthreads();
    int mine = 0;
    for (Offset i = begin + threadIdx.x; i < end; i += kBlock) {
      const Index from = a.col_indices[i];
      const Value factor = a.values == nullptr ? Value{1} : a.values[i];
      const Offset b_end = b.row_end(from);
      for (Offset j = b.row_begin(from); j < b_end; ++j) {
        const Offset place = b.col_indices[j] - first;
        if (place >= 0 && place < kTile) {
          atomicAdd(sums + place, factor * (b.values == nullptr ? Value{1} : b.values[j]));
          const unsigned bit = 1u << place % kWordBits;
          if ((atomicOr(exists + place / kWordBits, bit) & bit) == 0) ++mine;
        }
      }
    }
    for (int step = 16; step > 0; step /= 2) {  // write-back
      mine += __shfl_down_sync(kAllLanes, mine, step);
    }
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0 && found > 0) {
      reserved = atomicAdd(c.count, static_cast<unsigned long long>(found));
    }
    __syncthreads();
    for (int place = found > 0 ? threadIdx.x : kTile; place < kTile; place += kBlock) {
      if (exists[place / kWordBits] >> place % kWordBits & 1u) {
        const unsigned long long at =
            reserved + static_cast<unsigned long long>(atomicAdd(&placed, 1));
        c.rows[at] = row;
        c.cols[at] = static_cast<Index>(first + place);
        c.values[at] = alpha * sums[place];
      }
    }                 // write-back ends
    __syncthreads();  // the next tile clears what was just read
  }
}

template <int kBlock, int kTile>
struct ThreadCounts {
  template <class Value>
  static void append(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Value alpha,
                     const CooArrays<Value>& c, DeviceMemory& memory) {
    thread_counts<kBlock, kTile>
        <<<static_cast<unsigned>(a.rows), kBlock, 0, memory.stream()>>>(a, b, alpha, c);
    CHECK_LAUNCH("thread_counts", memory.stream());
  }
};

}  // namespace csrkit::gpu
