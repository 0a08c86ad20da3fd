// What the transforms share: new values on an old pattern, and patterns made row by row.
#pragma once

#include <utility>

#include "core/matrix/csr_matrix.h"

namespace csrkit::transform {

/// A matrix with the pattern of `pattern`, whose arrays it shares, and other values.
CsrMatrix with_values(const CsrMatrix& pattern, ValueArray values);

/// Throws UsageError "<what> needs a square matrix ..." for any other.
void require_square(const CsrMatrix& matrix, const char* what);

/// Turns row lengths in offsets[1 .. rows] into row offsets.
void accumulate_lengths(Buffer<Offset>& offsets);

/// Entry `at` as it is stored.
template <class Value>
Value stored(const CsrView<Value>& view, Offset at) {
  return view.values[at];
}
inline ImplicitOne stored(const CsrView<ImplicitOne>&, Offset) { return {}; }

/// A stored 1.
template <class Value>
Value stored_one() {
  return store_as<Value>(1.0);
}
template <>
inline ImplicitOne stored_one<ImplicitOne>() {
  return {};
}

/// Writes the entries of one row, from a position on.
template <class Value>
struct RowWriter {
  Index* cols;
  Value* values;  // null for ImplicitOne

  void put(Index col, Value value) {
    *cols++ = col;
    if constexpr (!std::is_same_v<Value, ImplicitOne>) *values++ = value;
  }
};

/// Makes a matrix of the same kind as `view` in two parallel passes over its rows: `length(row)`
/// says how many entries a row of the result has, `write(row, writer)` puts exactly that many,
/// columns ascending.
template <class Value, class Length, class Write>
CsrMatrix make_by_rows(const CsrView<Value>& view, Length&& length, Write&& write) {
  constexpr bool kHasValues = !std::is_same_v<Value, ImplicitOne>;
  Buffer<Offset> offsets(Offset{view.rows} + 1);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < view.rows; ++row) offsets[row + 1] = length(row);
  accumulate_lengths(offsets);
  Buffer<Index> cols(offsets[view.rows]);
  ValueArray values(kValueKindOf<Value>, offsets[view.rows]);
#pragma omp parallel for schedule(dynamic, 1024)
  for (Index row = 0; row < view.rows; ++row) {
    RowWriter<Value> writer{cols.data() + offsets[row], nullptr};
    if constexpr (kHasValues) writer.values = values.template as<Value>() + offsets[row];
    write(row, writer);
  }
  return CsrMatrix(view.rows, view.cols, std::move(offsets), std::move(cols), std::move(values));
}

}  // namespace csrkit::transform
