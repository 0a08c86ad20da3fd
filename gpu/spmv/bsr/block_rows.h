// A matrix as dense blocks: counting them before they are stored.
#pragma once

#include "gpu/device/device_csr.h"

namespace csrkit::gpu {

/// Blocks have as many rows as columns.
inline constexpr int kSmallestBlock = 2, kLargestBlock = 4;

/// The number of blocks of one size that hold all entries.
struct BlockCount {
  int size = 0;
  Offset blocks = 0;
};

/// Bytes of blocks: values in full, a column index and a mask of 16 bits each.
std::uint64_t block_bytes(const BlockCount& count, Index rows, int value_bytes);

/// Returns the size that takes the fewest bytes. Counts on the device; waits.
BlockCount best_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory);

/// Whether blocks of any size may take fewer bytes than A as CSR, by a sample of block rows. Waits.
bool may_pay_blocks(const DeviceCsrView<void>& a, int value_bytes, DeviceMemory& memory);

/// The starts of the block rows for one size: ceil(rows / size) + 1 numbers. Queued.
DeviceBuffer<Offset> block_row_starts(const DeviceCsrView<void>& a, int size, DeviceMemory& memory);

}  // namespace csrkit::gpu
