// Row by row, a row of A and the same row of A^T are merged; where both have an entry, A's stays.
#include "preprocess/transform/pattern.h"
#include "preprocess/transform/transform.h"

namespace csrkit {

namespace {

/// Calls `put(col, position, from_transpose)` for every column of the union, in order.
template <class Value, class Put>
void merge_row(const CsrView<Value>& a, const CsrView<Value>& t, Index row, Put&& put) {
  Offset at = a.row_offsets[row], in_t = t.row_offsets[row];
  const Offset end = a.row_offsets[row + 1], end_t = t.row_offsets[row + 1];
  while (at < end || in_t < end_t) {
    const bool take_a = at < end && (in_t == end_t || a.col_indices[at] <= t.col_indices[in_t]);
    if (!take_a) {
      put(t.col_indices[in_t], in_t, true);
      ++in_t;
      continue;
    }
    if (in_t < end_t && a.col_indices[at] == t.col_indices[in_t]) ++in_t;
    put(a.col_indices[at], at, false);
    ++at;
  }
}

}  // namespace

CsrMatrix symmetrize(const CsrMatrix& matrix) {
  transform::require_square(matrix, "symmetrize");
  const CsrMatrix transposed = transpose(matrix);
  return with_value_type(matrix.value_kind(), [&](auto tag) {
    using Value = typename decltype(tag)::type;
    const CsrView<Value> a = matrix.view<Value>(), t = transposed.view<Value>();
    return transform::make_by_rows(
        a,
        [&](Index row) {
          Offset length = 0;
          merge_row(a, t, row, [&](Index, Offset, bool) { ++length; });
          return length;
        },
        [&](Index row, transform::RowWriter<Value>& writer) {
          merge_row(a, t, row, [&](Index col, Offset at, bool from_transpose) {
            writer.put(col, transform::stored(from_transpose ? t : a, at));
          });
        });
  });
}

}  // namespace csrkit
