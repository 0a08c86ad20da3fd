#include <algorithm>

#include "preprocess/transform/pattern.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

namespace {

/// Where the diagonal entry of `row` is, or would have to be put.
template <class Value>
Offset diagonal_position(const CsrView<Value>& a, Index row) {
  return std::lower_bound(a.col_indices + a.row_offsets[row],
                          a.col_indices + a.row_offsets[row + 1], row) -
         a.col_indices;
}

template <class Value>
bool has_diagonal(const CsrView<Value>& a, Index row, Offset position) {
  return position < a.row_offsets[row + 1] && a.col_indices[position] == row;
}

template <class Value>
void copy_entries(const CsrView<Value>& a, Offset begin, Offset end,
                  transform::RowWriter<Value>& writer) {
  for (Offset at = begin; at < end; ++at) writer.put(a.col_indices[at], transform::stored(a, at));
}

}  // namespace

CsrMatrix add_self_loops(const CsrMatrix& matrix) {
  transform::require_square(matrix, "adding self loops");
  return with_value_type(matrix.value_kind(), [&](auto tag) {
    using Value = typename decltype(tag)::type;
    const CsrView<Value> a = matrix.view<Value>();
    return transform::make_by_rows(
        a,
        [&](Index row) {
          const bool is_there = has_diagonal(a, row, diagonal_position(a, row));
          return a.row_offsets[row + 1] - a.row_offsets[row] + (is_there ? 0 : 1);
        },
        [&](Index row, transform::RowWriter<Value>& writer) {
          const Offset diagonal = diagonal_position(a, row);
          copy_entries(a, a.row_offsets[row], diagonal, writer);
          if (!has_diagonal(a, row, diagonal)) writer.put(row, transform::stored_one<Value>());
          copy_entries(a, diagonal, a.row_offsets[row + 1], writer);
        });
  });
}

CsrMatrix drop_self_loops(const CsrMatrix& matrix) {
  return with_value_type(matrix.value_kind(), [&](auto tag) {
    using Value = typename decltype(tag)::type;
    const CsrView<Value> a = matrix.view<Value>();
    return transform::make_by_rows(
        a,
        [&](Index row) {
          const bool is_there = has_diagonal(a, row, diagonal_position(a, row));
          return a.row_offsets[row + 1] - a.row_offsets[row] - (is_there ? 1 : 0);
        },
        [&](Index row, transform::RowWriter<Value>& writer) {
          const Offset diagonal = diagonal_position(a, row);
          const Offset next = has_diagonal(a, row, diagonal) ? diagonal + 1 : diagonal;
          copy_entries(a, a.row_offsets[row], diagonal, writer);
          copy_entries(a, next, a.row_offsets[row + 1], writer);
        });
  });
}

}  // namespace csrkit
