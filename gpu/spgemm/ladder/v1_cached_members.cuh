// v1_cached_members: what does not change is read once.
// Owns     a thread: one row; its tile of 512 sums and the bits that say which of them exist
// Reads    pointers, sizes and the row's bounds from registers, an entry of A once per tile and an
//          entry of B once, through __restrict__ pointers
// Launch   64 threads, as v0
// Needs    nothing
// Against  v0: the members of the structs and the bounds of the loops stay in registers, and the
//          bits of existence are walked word by word. The order of work is the same, so is what is
//          bad.

#pragma once

#include "gpu/device/cuda_check.h"
#include "gpu/spgemm/ladder/rung.h"

namespace csrkit::gpu {

template <int kBlock, int kTile, class Value>
__global__ void __launch_bounds__(kBlock)
    cached_members(DeviceCsrView<Value> a, DeviceCsrView<Value> b, Value alpha,
                   CooArrays<Value> c) {
  const Offset row = Offset{blockIdx.x} * kBlock + threadIdx.x;
  if (row >= a.rows) return;
  const Index* __restrict__ const a_cols = a.col_indices;
  const Index* __restrict__ const b_cols = b.col_indices;
  const Value* __restrict__ const a_values = a.values;
  const Value* __restrict__ const b_values = b.values;
  const Offset begin = a.row_begin(static_cast<Index>(row));
  const Offset end = a.row_end(static_cast<Index>(row));
  Value sums[kTile];
  unsigned exists[kTile / kWordBits];
  for (Offset first = 0; first < b.cols; first += kTile) {
    for (int i = 0; i < kTile; ++i) sums[i] = 0;
    for (int i = 0; i < kTile / kWordBits; ++i) exists[i] = 0;
    for (Offset i = begin; i < end; ++i) {
      const Index from = a_cols[i];
      const Value factor = a_values == nullptr ? Value{1} : a_values[i];
      const Offset b_end = b.row_end(from);
      for (Offset j = b.row_begin(from); j < b_end; ++j) {
        const Offset place = b_cols[j] - first;
        if (place >= 0 && place < kTile) {
          sums[place] += factor * (b_values == nullptr ? Value{1} : b_values[j]);
          exists[place / kWordBits] |= 1u << place % kWordBits;
        }
      }
    }
    for (int word = 0; word < kTile / kWordBits; ++word) {  // write-back
      for (unsigned bits = exists[word]; bits != 0; bits &= bits - 1) {
        const int place = word * kWordBits + __ffs(static_cast<int>(bits)) - 1;
        const unsigned long long at = atomicAdd(c.count, 1ull);
        c.rows[at] = static_cast<Index>(row);
        c.cols[at] = static_cast<Index>(first + place);
        c.values[at] = alpha * sums[place];
      }
    }  // write-back ends
  }
}

template <int kBlock, int kTile>
struct CachedMembers {
  template <class Value>
  static void append(const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b, Value alpha,
                     const CooArrays<Value>& c, DeviceMemory& memory) {
    const Offset blocks = (Offset{a.rows} + kBlock - 1) / kBlock;
    cached_members<kBlock, kTile>
        <<<static_cast<unsigned>(blocks), kBlock, 0, memory.stream()>>>(a, b, alpha, c);
    CHECK_LAUNCH("cached_members", memory.stream());
  }
};

}  // namespace csrkit::gpu
