// Where an entry of a panel has its column in the panel's other rows.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"

namespace csrkit::gpu::row_panels {

/// Whether no row before `row` has column `col`, which is that of `entry`; if so, at[r] is where it
/// is in row r, -1 where it is not. Rows begin at row_begin[r] and end where the next one begins.
template <int kRows>
__device__ bool find_in_rows(const Index* cols, const Index (&row_begin)[kRows + 1], Index col,
                             Index entry, int row, Index own_begin, Index (&at)[kRows]) {
  // Many panels have rows with the same columns, so first at the same place.
  Index seen[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    at[r] = row_begin[r] + entry - own_begin;
    seen[r] = at[r] < row_begin[r + 1] ? __ldg(cols + at[r]) : -1;
  }
  Index count[kRows], most = 0;
  bool is_first = true;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const bool is_found = r == row || seen[r] == col;
    if (is_found && r < row) is_first = false;
    if (!is_found) at[r] = row_begin[r];
    count[r] = is_found ? 0 : row_begin[r + 1] - row_begin[r];
    most = max(most, count[r]);
  }
  if (!is_first) return false;
  // All rows at once, step by step: their loads are under way together.
  for (; most > 0; most /= 2) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Index half = count[r] / 2;
      const bool is_below = count[r] > 0 && __ldg(cols + at[r] + half) < col;
      if (is_below) at[r] += half + 1;
      count[r] = is_below ? count[r] - half - 1 : half;
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r == row || seen[r] == col) continue;
    if (at[r] == row_begin[r + 1] || __ldg(cols + at[r]) != col) at[r] = -1;
    if (at[r] >= 0 && r < row) is_first = false;
  }
  return is_first;
}

}  // namespace csrkit::gpu::row_panels
