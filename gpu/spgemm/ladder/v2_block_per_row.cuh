// v2_block_per_row: one block computes one row of C, a tile of 2,048 columns in shared memory.
// Owns     a block: one row; a thread: every 256th entry of A's row, with the row of B it points to
// Reads    a row of B by one thread, front to back: uncoalesced, but neighbours of a warp share
//          sectors of short rows. Sums by atomics in shared memory (16.25 KiB in f64): their order
//          differs from run to run, and so may the last bits.
// Launch   256 threads, a block per row
// Needs    nothing
// Against  v1: a long row is the work of 256 threads, and the tile is four times as wide, so B is
//          read a quarter as often and from shared instead of local memory. Bad: every entry of C
//          still is an atomic on one address; short rows leave most of a block idle.

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/ladder/rung.h"

namespace csrkit::gpu {

template <int kBlock, int kTile, class Value>
__global__ void __launch_bounds__(kBlock)
    block_per_row(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Value alpha, CooArrays<Value> c) {
  __shared__ Value sums[kTile];
  __shared__ unsigned exists[kTile / kWordBits];
  const auto row = static_cast<Index>(blockIdx.x);
  const Offset begin = a.row_begin(row), end = a.row_end(row);
  if (begin == end) return;
  for (Offset first = 0; first < b.cols; first += kTile) {
    for (int i = threadIdx.x; i < kTile; i += kBlock) sums[i] = 0;
    for (int i = threadIdx.x; i < kTile / kWordBits; i += kBlock) exists[i] = 0;
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
      if (exists[place / kWordBits] >> place % kWordBits & 1u) {
        const unsigned long long at = atomicAdd(c.count, 1ull);
        c.rows[at] = row;
        c.cols[at] = static_cast<Index>(first + place);
        c.values[at] = alpha * sums[place];
      }
    }                 // write-back ends
    __syncthreads();  // the next tile clears what was just read
  }
}

template <int kBlock, int kTile>
struct BlockPerRow {
  template <class Value>
  static void append(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Value alpha,
                     const CooArrays<Value>& c, DeviceMemory& memory) {
    block_per_row<kBlock, kTile>
        <<<static_cast<unsigned>(a.rows), kBlock, 0, memory.stream()>>>(a, b, alpha, c);
    CHECK_LAUNCH("block_per_row", memory.stream());
  }
};

}  // namespace csrkit::gpu
