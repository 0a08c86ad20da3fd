// Where an entry of a panel has its column in the panel's other rows.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"

namespace csrkit::gpu::row_panels {

/// Where the entries of a panel's rows lie: all of them, or those that are sorted together.
template <int kRows>
struct RowRanges {
  Index begin[kRows], end[kRows];
  __device__ Index entries() const {
    Index sum = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) sum += end[r] - begin[r];
    return sum;
  }
};

/// Whether no row before `row` has column `col`, which is that of its entry `entry`; if so, at[r]
/// is where it is in row r, -1 where it is not.
template <int kRows>
__device__ bool find_in_rows(const Index* cols, const RowRanges<kRows>& rows, Index col, int row,
                             Index entry, Index (&at)[kRows]) {
  // Many panels have rows with the same columns, so first at the same place.
  Index seen[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    at[r] = rows.begin[r] + entry;
    seen[r] = at[r] < rows.end[r] ? __ldg(cols + at[r]) : -1;
  }
  Index count[kRows], most = 0;
  bool is_first = true;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const bool is_found = r == row || seen[r] == col;
    if (is_found && r < row) is_first = false;
    if (!is_found) at[r] = rows.begin[r];
    count[r] = is_found ? 0 : rows.end[r] - rows.begin[r];
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
    if (at[r] == rows.end[r] || __ldg(cols + at[r]) != col) at[r] = -1;
    if (at[r] >= 0 && r < row) is_first = false;
  }
  return is_first;
}

}  // namespace csrkit::gpu::row_panels
