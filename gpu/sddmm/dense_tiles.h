// The tiles of dense_tiles: how large they are, and how many cover a matrix.
#pragma once

#include "core/base/types.h"

namespace csrkit::gpu::sddmm {

/// Tiles of `edge` x `edge` places: 64, or 32 where larger ones are too few to occupy a device.
class DenseTiling {
 public:
  static constexpr int kLarge = 64, kSmall = 32;

  constexpr DenseTiling(Index rows, Index cols)
      : edge(count(rows, kLarge) * count(cols, kLarge) >= kEnoughTiles ? kLarge : kSmall),
        of_rows(count(rows, edge)),
        of_cols(count(cols, edge)) {}

  int edge;
  Offset of_rows, of_cols;

  constexpr Offset tiles() const { return of_rows * of_cols; }
  /// Places of all tiles, also those beyond the matrix's edges: each is computed.
  constexpr double places() const {
    return static_cast<double>(tiles()) * static_cast<double>(edge) * static_cast<double>(edge);
  }

 private:
  static constexpr Offset kEnoughTiles = 100;
  static constexpr Offset count(Index size, int edge) { return (Offset{size} + edge - 1) / edge; }
};

}  // namespace csrkit::gpu::sddmm
