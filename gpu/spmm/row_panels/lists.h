// The analysis behind row_panels: neighbouring rows share one list of columns.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/device/device_csr.h"
#include "gpu/spmm/device_spmm.h"

namespace csrkit::gpu {

/// Rows of a panel: eight are 5 to 10 % faster from K = 128 on where all eight are alike, and
/// slower everywhere else (H200, docs/lab/2026-11-22-spmm-h200.md).
inline constexpr int kPanelRows = 4;

/// In 16 bits tensor cores multiply panels, and their smallest side is eight. The values of a list
/// lie as lanes hold them: of four neighbouring entries those of row 0, then those of row 1.
inline constexpr int kTiledPanelRows = 8;
__host__ __device__ constexpr Offset tiled_value_at(Offset entry, int row) {
  return (entry / 4 * kTiledPanelRows + row) * 4 + entry % 4;
}
constexpr int panel_rows(int value_bytes) {
  return value_bytes == 2 ? kTiledPanelRows : kPanelRows;
}

/// One list a panel, at panel_begin: a column, which rows have an entry there, and the values of
/// all its rows, 0 where there is no entry. Up to the next multiple of kPanelAlign entries follow
/// that no row has.
struct PanelLists {
  Offset* lengths = nullptr;
  Index* cols = nullptr;
  std::uint8_t* masks = nullptr;  // bit r: row r of the panel
  void* values = nullptr;         // of A's kind, one a row; if A has none, none but in 16 bits
};

/// Plans and runs the analysis. All sizes are bounds from rows and nnz alone.
class PanelListMaker {
 public:
  PanelListMaker() = default;
  /// `one`: the number 1 in 16 bits, for the entries of an A without values.
  PanelListMaker(Index rows, Offset nnz, int value_bytes, std::uint16_t one = 0);

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
  std::uint16_t one_ = 0;
  Offset max_entries_ = 0;
  std::uint64_t bytes_ = 0;
  // Byte positions in the workspace.
  std::uint64_t counts_at_ = 0, long_at_ = 0, copied_at_ = 0, lengths_at_ = 0, cols_at_ = 0,
                masks_at_ = 0, values_at_ = 0;
};

}  // namespace csrkit::gpu
