// v3_batched_writes: one global atomic per tile reserves room for all entries of the tile.
// Owns     a block: one row; a thread: every 256th entry of A's row, with the row of B it points to
// Reads    as v2. After a tile the entries are counted in shared memory, one thread reserves the
//          block's range, and shared atomics hand out the places in it.
// Launch   256 threads, a block per row
// Needs    nothing
// Against  v2: the atomics on one address in global memory are one per tile instead of one per
//          entry, and what a block writes lies together. Bad: the tile is walked twice to count and
//          to place.

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/ladder/rung.h"

namespace csrkit::gpu {

template <int kBlock, int kTile, class Value>
__global__ void __launch_bounds__(kBlock)
    batched_writes(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Value alpha,
                   CooArrays<Value> c) {
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
    for (Offset i = begin + threadIdx.x; i < end; i += kBlock) {
      const Index from = a.col_indices[i];
      const Value factor = a.values == nullptr ? Value{1} : a.values[i];
      const Offset b_end = b.row_end(from);
      for (Offset j = b.row_begin(from); j < b_end; ++j) {
        const Offset place = b.col_indices[j] - first;
        if (place >= 0 && place < kTile) {
          atomicAdd(sums + place, factor * (b.values == nullptr ? Value{1} : b.values[j]));
          atomicOr(exists + place / kWordBits, 1u << place % kWordBits);
        }
      }
    }
    __syncthreads();
    for (int place = threadIdx.x; place < kTile; place += kBlock) {  // write-back
      if (exists[place / kWordBits] >> place % kWordBits & 1u) atomicAdd(&found, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0 && found > 0) {
      reserved = atomicAdd(c.count, static_cast<unsigned long long>(found));
    }
    __syncthreads();
    for (int place = threadIdx.x; place < kTile; place += kBlock) {
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
struct BatchedWrites {
  template <class Value>
  static void append(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Value alpha,
                     const CooArrays<Value>& c, DeviceMemory& memory) {
    batched_writes<kBlock, kTile>
        <<<static_cast<unsigned>(a.rows), kBlock, 0, memory.stream()>>>(a, b, alpha, c);
    CHECK_LAUNCH("batched_writes", memory.stream());
  }
};

}  // namespace csrkit::gpu
