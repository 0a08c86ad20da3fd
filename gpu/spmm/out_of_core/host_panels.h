// An operand of a product out of core: a dense matrix on the host, cut into panels of columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/matrix/dense_matrix.h"
#include "gpu/device/page_locked_memory.h"
#include "gpu/spmm/out_of_core/pipeline.h"

namespace csrkit::gpu {

/// Borrows the operand. With copies, each panel is contiguous in page-locked memory, so the device
/// copies it without the host's help.
class HostPanels {
 public:
  HostPanels() = default;
  /// Panels of `panel_cols` columns. `threads` threads make copies, if there are any.
  HostPanels(Index panel_cols, bool has_copies, int threads)
      : panel_cols_(panel_cols), has_copies_(has_copies), threads_(threads) {}

  /// Takes an operand, and makes room for its copies, which begin undefined. Throws MemoryError.
  void bind(const ConstDenseView& operand);
  /// Copies the operand into its panels, or the panels into the operand, which is then written.
  void pack() const;
  void unpack() const;

  /// Rows of a panel, or of its copy, with their place on the device.
  Region rows(Index panel, Index first_row, Index rows, std::byte* at) const {
    return has_copies_ ? rows_of_copy(panel, first_row, rows, at)
                       : rows_of_operand(panel, first_row, rows, at);
  }

  /// Page-locked bytes.
  std::uint64_t copied_bytes() const { return copies_.size_bytes(); }

 private:
  Index cols_of(Index panel) const;
  Region rows_of_operand(Index panel, Index first_row, Index rows, std::byte* at) const;
  Region rows_of_copy(Index panel, Index first_row, Index rows, std::byte* at) const;
  template <class F>
  void over_blocks(F&& f) const;

  Index panel_cols_ = 0;
  bool has_copies_ = false;
  int threads_ = 1;
  ConstDenseView operand_;
  PageLockedMemory copies_;
};

}  // namespace csrkit::gpu
