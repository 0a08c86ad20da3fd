// The analysis behind row_panels: neighbouring rows share one list of columns.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Rows of a panel: eight are 5 to 10 % faster from K = 128 on where all eight are alike, and
/// slower everywhere else (H200, docs/lab/2026-11-22-spmm-h200.md).
inline constexpr int kPanelRows = 4;

/// One list a panel, at panel_begin: a column, which rows have an entry there, and the values of
/// all kPanelRows, 0 where there is no entry. Up to the next multiple of kPanelAlign entries follow
/// that no row has.
struct PanelLists {
  Offset* lengths = nullptr;
  Index* cols = nullptr;
  std::uint8_t* masks = nullptr;  // bit r: row r of the panel
  void* values = nullptr;         // of A's kind, kPanelRows an entry; not written if A has none
};

/// Plans and runs the analysis. All sizes are bounds from rows and nnz alone.
class PanelListMaker {
 public:
  PanelListMaker() = default;
  PanelListMaker(Index rows, Offset nnz, int value_bytes);

  Index panels() const { return panels_; }
  std::uint64_t workspace_bytes() const { return bytes_; }
  PanelLists lay_out(void* workspace) const;

  /// Queues the analysis: every entry is looked up in the other rows of its panel.
  void analyse(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) const;

 private:
  template <class Word>
  void make_lists(const DeviceCsrView<void>& a, void* workspace, cudaStream_t stream) const;

  Index panels_ = 0;
  int value_bytes_ = 0;
  Offset max_entries_ = 0;
  std::uint64_t bytes_ = 0;
  // Byte positions in the workspace.
  std::uint64_t counts_at_ = 0, long_at_ = 0, copied_at_ = 0, lengths_at_ = 0, cols_at_ = 0,
                masks_at_ = 0, values_at_ = 0;
};

}  // namespace csrkit::gpu
