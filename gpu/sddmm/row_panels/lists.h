// Panels of neighbouring rows, and the columns that each panel has: what row_panels works through.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu::sddmm {

/// Rows of a panel, at most, and columns of a tile.
inline constexpr int kPanelRows = 4;
inline constexpr int kTileCols = 4;
inline constexpr int kTilePlaces = kPanelRows * kTileCols;

/// Some tiles of one panel; one load.
struct alignas(16) PanelPiece {
  Index first_row, rows;
  Index first_tile, tiles;
};

struct TileListsView {
  const PanelPiece* pieces;
  Index count;
  const Index* cols;  // kTileCols a tile
  /// For every row of a tile its kTileCols entries, from the row's first on; -1 where it has none.
  const Index* entries;
};

/// The lists of a matrix with entries. Rows with the same columns stay together; other neighbours
/// share a list as they come.
class TileLists {
 public:
  /// Rows, entries and tiles, of which there are no more than entries, are numbered in 32 bits, and
  /// where an entry is looked up, two of its numbers are added.
  static constexpr Offset kMost = (Offset{1} << 30) - 1;
  static constexpr bool can_number(Offset rows, Offset nnz) {
    return rows <= kMost && nnz <= kMost;
  }

  /// Finds the panels, and how many tiles they have. Waits.
  void count(const DeviceCsrView<void>& a, DeviceMemory& memory);
  /// The share of places in tiles that have an entry.
  double fill(Offset nnz) const;
  /// Makes the lists. Waits.
  void make(const DeviceCsrView<void>& a, DeviceMemory& memory);

  /// What each of the two allocates at most.
  static std::uint64_t counting_bytes(Index rows);
  std::uint64_t making_bytes() const;

  TileListsView view() const;

 private:
  Index tiles_ = 0, count_ = 0;
  // Of every row: where its run begins; of panels, at their first row.
  DeviceBuffer<Index> runs_, first_tiles_, first_pieces_;
  DeviceBuffer<PanelPiece> pieces_;
  DeviceBuffer<Index> cols_, entries_;
};

}  // namespace csrkit::gpu::sddmm
