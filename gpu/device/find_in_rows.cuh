// A panel is a few neighbouring rows. For one entry: where the panel's other rows have its column.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"

namespace csrkit::gpu {

/// The columns of a panel's entries, in A or in a copy in shared memory, where a search takes half
/// the instructions.
struct ColumnsInA {
  const Index* cols;
  __device__ Index operator[](Index at) const { return __ldg(cols + at); }
};
struct ColumnsInShared {
  const Index* cols;
  __device__ Index operator[](Index at) const { return cols[at]; }
};

/// Where the entries of a panel's rows lie: row r has [begin[r], end[r]) of the panel's columns.
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

/// `col` is the column of entry `entry` of row `row`. Returns whether no earlier row has that
/// column. If so, at[r] is its place in row r, or -1 where row r does not have it. The columns of a
/// row ascend.
template <int kRows, class Columns>
__device__ bool find_in_rows(const Columns& cols, const RowRanges<kRows>& rows, Index col, int row,
                             Index entry, Index (&at)[kRows]) {
  // Many panels have rows with the same columns, so look at the same place first.
  Index seen[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    at[r] = rows.begin[r] + entry;
    seen[r] = at[r] < rows.end[r] ? cols[at[r]] : -1;
  }
  Index end[kRows], most = 0;
  bool is_first = true;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const bool is_found = r == row || seen[r] == col;
    if (is_found && r < row) is_first = false;
    if (!is_found) at[r] = rows.begin[r];
    end[r] = is_found ? at[r] : rows.end[r];
    most = max(most, end[r] - at[r]);
  }
  if (!is_first) return false;
  // Binary search in all rows at once, so that their loads overlap. Steps of powers of two, the
  // same in all rows, take half the instructions of halving each row's own range.
  for (Index step = most > 0 ? 1 << (31 - __clz(most)) : 0; step > 0; step >>= 1) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Index next = at[r] + step;
      if (next <= end[r] && cols[next - 1] < col) at[r] = next;
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r == row || seen[r] == col) continue;
    if (at[r] == rows.end[r] || cols[at[r]] != col) at[r] = -1;
    if (at[r] >= 0 && r < row) is_first = false;
  }
  return is_first;
}

}  // namespace csrkit::gpu
