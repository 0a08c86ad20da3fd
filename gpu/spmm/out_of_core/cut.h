// How a product is cut that the device cannot hold: into panels of columns of B and C, and blocks
// of rows of A and C. Step by step one block is multiplied with one panel, all blocks of a panel
// before the next one. Two schemes come out of it: A stays on the device, or its blocks travel,
// once for every panel (with one panel, B stays).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/contract/out_of_core.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// What is to be cut; op(A) as it lies on the host.
struct OutOfCoreProduct {
  Index rows = 0;
  Index cols = 0;
  const Offset* row_offsets = nullptr;  // rows + 1 numbers
  Index dense_cols = 0;
  int value_bytes = 0;  // of one of A's, 0 if it has none
  int b_bytes = 4, c_bytes = 4;
  std::function<std::uint64_t(const SpmmSizes&)> workspace_bytes;  // of the kernel
  bool is_panel_major = false;  // B and C lie panel by panel on the host

  Offset nnz() const { return row_offsets[rows]; }
};

/// Where a block of rows of A lies in its piece of device memory.
struct BlockLayout {
  Index first_row = 0, rows = 0;
  /// Entries from a multiple of eight on, so that a row's parts begin where they do in the whole;
  /// `skipped` of them belong to the row before.
  Offset first_entry = 0, entries = 0;
  Index skipped = 0;
  std::uint64_t cols_at = 0, values_at = 0, workspace_at = 0;  // offsets are at 0, in 32 bits
  std::uint64_t bytes = 0;

  /// What a kernel is to know of it. All of `dense_cols` columns, or of `panel_cols` of them.
  SpmmSizes sizes(const OutOfCoreProduct& product, Index panel_cols) const;
};

struct Cut {
  bool keeps_a = false;
  Index panel_cols = 0, panels = 0;
  std::vector<BlockLayout> blocks;
  std::uint64_t b_buffer_bytes = 0, c_buffer_bytes = 0;  // one of each
  std::uint64_t a_buffer_bytes = 0;                      // of a block that travels
  int b_buffers = 0, c_buffers = 0, a_buffers = 0;       // a_buffers: 0 where A stays
  std::uint64_t device_bytes = 0;                        // all of it
  std::uint64_t bytes_in = 0, bytes_out = 0;             // of C = A B
  double seconds = 0;                                    // forecast

  Index steps() const { return panels * static_cast<Index>(blocks.size()); }
  /// Columns of panel p.
  Index cols_of(Index panel, Index dense_cols) const {
    const Offset left = Offset{dense_cols} - Offset{panel} * panel_cols;
    return left < panel_cols ? static_cast<Index>(left) : panel_cols;
  }
};

/// The cut that is expected to take the least time with `limit_bytes` of device memory: of both
/// schemes, or the one asked for. `most_panel_cols` 0: as many columns as fit. Throws MemoryError,
/// with what the smallest would need, if none fits.
Cut choose_cut(const OutOfCoreProduct& product, std::uint64_t limit_bytes, OutOfCore how,
               Index most_panel_cols = 0);

}  // namespace csrkit::gpu
