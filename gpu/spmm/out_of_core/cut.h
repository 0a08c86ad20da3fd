// How a product that the device cannot hold is cut: into panels of columns of B and C, and blocks
// of rows of A and C. A step multiplies one block with one panel; all blocks of a panel come before
// the next panel. There are two schemes: A stays on the device, or its blocks are streamed once for
// every panel (with one panel, B stays).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/contract/out_of_core.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// The product to cut; op(A) as it is stored on the host.
struct OutOfCoreProduct {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_offsets = nullptr;  // rows + 1 numbers
  Index dense_cols = 0;
  int value_bytes = 0;  // of a value of A; 0 if it has none
  int b_bytes = 4, c_bytes = 4;
  std::function<std::uint64_t(const SpmmSizes&)> workspace_bytes;  // of the kernel
  bool is_panel_major = false;  // B and C lie panel by panel on the host

  Offset nnz() const { return row_offsets[rows]; }
};

/// The layout of a block of rows of A in its buffer on the device.
struct BlockLayout {
  Index first_row = 0, rows = 0;
  /// The first entry copied, a multiple of eight of the whole matrix, so that parts of rows begin
  /// where they do in the whole; the first `skipped` entries belong to earlier rows.
  Offset first_entry = 0, entries = 0;
  Index skipped = 0;
  std::uint64_t cols_at = 0, values_at = 0, workspace_at = 0;  // offsets are at 0, in 32 bits
  std::uint64_t bytes = 0;

  /// The block's sizes for a kernel; of all `dense_cols` columns, or of `panel_cols` of them.
  SpmmSizes sizes(const OutOfCoreProduct& product, Index panel_cols) const;
};

struct Cut {
  bool keeps_a = false;
  Index panel_cols = 0, panels = 0;
  std::vector<BlockLayout> blocks;
  std::uint64_t b_buffer_bytes = 0, c_buffer_bytes = 0;  // of one buffer
  std::uint64_t a_buffer_bytes = 0;                      // of one buffer, where A is streamed
  int b_buffers = 0, c_buffers = 0, a_buffers = 0;       // a_buffers: 0 where A stays
  std::uint64_t device_bytes = 0;                        // in total
  std::uint64_t bytes_in = 0, bytes_out = 0;             // of C = A B
  double seconds = 0;                                    // forecast

  Index steps() const { return panels * static_cast<Index>(blocks.size()); }
  /// Columns of panel p.
  Index cols_of(Index panel, Index dense_cols) const {
    const Offset left = Offset{dense_cols} - Offset{panel} * panel_cols;
    return left < panel_cols ? static_cast<Index>(left) : panel_cols;
  }
};

/// Returns the cut with the least forecast time within `limit_bytes` of device memory, of both
/// schemes or of the one asked for. `most_panel_cols` 0: as many columns as fit. Throws
/// MemoryError, with the bytes that the smallest cut needs, if none fits.
Cut choose_cut(const OutOfCoreProduct& product, std::uint64_t limit_bytes, OutOfCore how,
               Index most_panel_cols = 0);

}  // namespace csrkit::gpu
