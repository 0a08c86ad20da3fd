// A matrix as dense blocks: counting them before they are stored.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Blocks have as many rows as columns.
inline constexpr int kBlockSizes[] = {2, 3, 4};
inline constexpr int kLargestBlock = 4;

/// The number of blocks of one size that hold all entries.
struct BlockCount {
  int size = 0;
  Offset blocks = 0;
};

/// Bytes of blocks: values in full, a column index and a mask of 16 bits each.
std::uint64_t block_bytes(const BlockCount& count, Index rows, int value_bytes);

/// Returns the size that takes the fewest bytes. Counts on the device; waits.
BlockCount best_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory);

/// The starts of the block rows for one size: ceil(rows / size) + 1 numbers. Queued.
DeviceBuffer<Offset> block_row_starts(const DeviceCsrView<void>& a, int size, DeviceMemory& memory);

#ifdef __CUDACC__
/// Walks the blocks of a block row from left to right: up to four sorted rows, merged. Calls
/// `f(block_col, begins, ends)` with the entries [begins[i], ends[i]) of each row i.
template <class Value, class F>
__device__ inline void for_each_block(const DeviceCsrView<Value>& a, Offset block_row, int size,
                                      F&& f) {
  Offset begins[kLargestBlock], ends[kLargestBlock], limits[kLargestBlock];
#pragma unroll
  for (int i = 0; i < kLargestBlock; ++i) {
    const Offset row = block_row * size + i;
    const bool is_there = i < size && row < a.rows;
    begins[i] = is_there ? a.row_begin(static_cast<Index>(row)) : 0;
    limits[i] = is_there ? a.row_end(static_cast<Index>(row)) : 0;
  }
  while (true) {
    Index block_col = kMaxIndex;
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) {
      if (begins[i] < limits[i]) block_col = min(block_col, a.col_indices[begins[i]] / size);
    }
    if (block_col == kMaxIndex) return;
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) {
      ends[i] = begins[i];
      while (ends[i] < limits[i] && a.col_indices[ends[i]] / size == block_col) ++ends[i];
    }
    f(block_col, begins, ends);
#pragma unroll
    for (int i = 0; i < kLargestBlock; ++i) begins[i] = ends[i];
  }
}
#endif

}  // namespace csrkit::gpu
