// The union of two rows: what A + A^T has in a row, without making it.
#pragma once

#include <algorithm>

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// Calls take(col, is_in_both) for every column in row `row` of `a` or of `b`, ascending.
template <class Take>
void for_each_in_either(const CsrMatrix& a, const CsrMatrix& b, Index row, Take&& take) {
  const Index* x = a.col_indices() + a.row_offsets()[row];
  const Index* x_end = a.col_indices() + a.row_offsets()[row + 1];
  const Index* y = b.col_indices() + b.row_offsets()[row];
  const Index* y_end = b.col_indices() + b.row_offsets()[row + 1];
  // Which of the two comes next is anybody's guess, so it is no branch.
  while (x != x_end && y != y_end) {
    const Index from_x = *x, from_y = *y, next = std::min(from_x, from_y);
    x += from_x == next ? 1 : 0;
    y += from_y == next ? 1 : 0;
    take(next, from_x == from_y);
  }
  for (; x != x_end; ++x) take(*x, false);
  for (; y != y_end; ++y) take(*y, false);
}

/// The same without the diagonal: calls take(col) for every neighbour of vertex `row`.
template <class Take>
void for_each_neighbour(const CsrMatrix& a, const CsrMatrix& b, Index row, Take&& take) {
  for_each_in_either(a, b, row, [&](Index col, bool) {
    if (col != row) take(col);
  });
}

}  // namespace csrkit
