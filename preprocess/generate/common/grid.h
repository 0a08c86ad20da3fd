// Rows of a regular grid: who the neighbours of a point are, in ascending order.
#pragma once

#include "preprocess/generate/common/csr_builder.h"

namespace csrkit {

struct Grid {
  Index nx, ny, nz;
  Offset points() const { return Offset{nx} * ny * nz; }

  /// Refuses more than 2^31 - 1 unknowns, in the name of `parameters`.
  static Grid from(Index nx, Index ny, Index nz, Index unknowns_per_point,
                   const Parameters& parameters);

  /// Calls f(neighbour, faces) for the points of the 3 x 3 x 3 box around `point` that lie in the
  /// grid, ascending; `faces` is in how many directions they differ (0: the point itself).
  template <class F>
  void for_each_neighbour(Index point, F&& f) const {
    const Index x = point % nx, y = point / nx % ny, z = point / nx / ny;
    for (Index dz = -1; dz <= 1; ++dz) {
      if (z + dz < 0 || z + dz >= nz) continue;
      for (Index dy = -1; dy <= 1; ++dy) {
        if (y + dy < 0 || y + dy >= ny) continue;
        for (Index dx = -1; dx <= 1; ++dx) {
          if (x + dx < 0 || x + dx >= nx) continue;
          f(((z + dz) * ny + y + dy) * nx + x + dx, (dx != 0) + (dy != 0) + (dz != 0));
        }
      }
    }
  }
};

/// Two passes over rows that can list themselves: count, then fill. `for_each_col(row, f)` calls
/// f(col) ascending and is a pure function of the row.
template <class ForEachCol>
CsrPattern pattern_of(Index rows, ForEachCol&& for_each_col) {
  require_room(rows, rows, sizeof(Index));
  Buffer<Index> lengths(rows);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < rows; ++row) {
    Index length = 0;
    for_each_col(row, [&](Index) { ++length; });
    lengths[row] = length;
  }
  CsrPattern pattern{offsets_of(lengths), {}};
  pattern.col_indices = Buffer<Index>(pattern.row_offsets[rows]);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < rows; ++row) {
    Index* out = pattern.col_indices.data() + pattern.row_offsets[row];
    for_each_col(row, [&](Index col) { *out++ = col; });
  }
  return pattern;
}

}  // namespace csrkit
