// Panels of neighbouring rows and the columns of each, in tiles: the work list of row_panels.
#pragma once

#include <cuda_runtime.h>

#include "gpu/device/device_csr.h"

namespace csrkit::gpu::sddmm {

/// The most rows of a panel, and the columns of a tile.
inline constexpr int kPanelRows = 4;
inline constexpr int kTileCols = 4;
inline constexpr int kTilePlaces = kPanelRows * kTileCols;

/// Some tiles of one panel; 16 bytes, for one load.
struct alignas(16) PanelPiece {
  Index first_row, rows;
  Index first_tile, tiles;
};

struct TileListsView {
  const PanelPiece* pieces;
  Index count;
  const Index* cols;  // kTileCols a tile
  /// For every row of a tile kTileCols numbers: the entry, counted from the row's first, or -1.
  const Index* entries;
};

/// The lists of a matrix with entries. A panel holds either rows with the same columns or other
/// neighbouring rows, in their order.
class TileLists {
 public:
  /// Rows, entries and tiles (never more than entries) are numbered in 32 bits. Below 2^30, because
  /// a search adds two entry numbers.
  static constexpr Offset kMost = (Offset{1} << 30) - 1;
  static constexpr bool can_number(Offset rows, Offset nnz) {
    return rows <= kMost && nnz <= kMost;
  }

  /// Finds the panels and counts their tiles. Waits.
  void count(const DeviceCsrView<void>& a, DeviceMemory& memory);
  /// The share of the tiles' places that have an entry, 0 to 1. After count.
  double fill(Offset nnz) const;
  /// Makes the lists. After count. Waits.
  void make(const DeviceCsrView<void>& a, DeviceMemory& memory);

  /// The peak of what count and make allocate, in bytes.
  static std::uint64_t counting_bytes(Index rows);
  std::uint64_t making_bytes() const;

  TileListsView view() const;

 private:
  Index tiles_ = 0, count_ = 0;
  // One number a row: the first row of its run; at the first row of a panel, its first tile and
  // first piece.
  DeviceBuffer<Index> runs_, first_tiles_, first_pieces_;
  DeviceBuffer<PanelPiece> pieces_;
  DeviceBuffer<Index> cols_, entries_;
};

}  // namespace csrkit::gpu::sddmm
