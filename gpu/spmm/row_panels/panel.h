// The layout of a panel's list.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/base/types.h"

namespace csrkit::gpu {

/// Rows of a panel: eight are 5 to 10 % faster from K = 128 on where all eight are alike, and
/// slower everywhere else (H200, docs/lab/2026-11-22-spmm-h200.md).
inline constexpr int kPanelRows = 4;

/// In 16 bits tensor cores multiply panels, and their smallest side is eight. The values of a list
/// are in the order in which lanes hold them: for four neighbouring entries those of row 0, then
/// those of row 1.
inline constexpr int kTiledPanelRows = 8;
__host__ __device__ constexpr Offset tiled_value_at(Offset entry, int row) {
  return (entry / 4 * kTiledPanelRows + row) * 4 + entry % 4;
}
constexpr int panel_rows(int value_bytes) {
  return value_bytes == 2 ? kTiledPanelRows : kPanelRows;
}

/// One list a panel, at panel_begin. An entry is a column, a mask of the rows that have it, and the
/// values of all rows, 0 where there is no entry. Lists are padded with empty entries to a multiple
/// of kPanelAlign.
struct PanelLists {
  Offset* lengths = nullptr;
  Index* cols = nullptr;
  std::uint8_t* masks = nullptr;  // bit r: row r of the panel
  void* values = nullptr;         // of A's kind, one a row; null if A has none, except in 16 bits
};

}  // namespace csrkit::gpu
