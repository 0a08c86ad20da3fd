// What lies around a sampled entry: rows, entries and columns.
#pragma once

#include <algorithm>

#include "core/base/fetch.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::gpu::look {

inline double share(Offset count, Offset entries) {
  return static_cast<double>(count) / static_cast<double>(entries);
}

struct RowRange {
  Index first, end;
};
inline RowRange rows_around(const CsrMatrix& a, Index row, Index count) {
  const Index first = row / count * count;
  return {first, static_cast<Index>(std::min<Offset>(Offset{first} + count, a.rows()))};
}
inline Offset entries_of(const CsrMatrix& a, RowRange rows) {
  return a.row_offsets()[rows.end] - a.row_offsets()[rows.first];
}

/// At most `most` entries of `row` around `entry`.
struct Stretch {
  Offset begin, end;
};
inline Stretch stretch_around(const CsrMatrix& a, Index row, Offset entry, Offset most) {
  const Offset first = a.row_offsets()[row], last = a.row_offsets()[row + 1];
  const Offset begin = std::clamp(entry - most / 2, first, std::max(last - most, first));
  return {begin, std::min(begin + most, last)};
}

/// The columns of these.
struct ColumnRange {
  Index from, to;
};
inline ColumnRange columns_around(const CsrMatrix& a, Index row, Offset entry, Offset most) {
  const Stretch stretch = stretch_around(a, row, entry, most);
  return {a.col_indices()[stretch.begin], a.col_indices()[stretch.end - 1] + 1};
}

/// Asks for the columns of these entries, as far as there are any.
inline void fetch_columns(const CsrMatrix& a, Offset begin, Offset end) {
  constexpr Offset kLine = 64 / sizeof(Index);
  const Offset first = std::max<Offset>(begin, 0) / kLine * kLine;
  for (Offset at = first; at < std::min(end, a.nnz()); at += kLine) fetch(a.col_indices() + at);
}

/// The first place in [first, last) of ascending values that holds `value` or more; `last` if none
/// does. The search begins at `guess`: A is not in cache, and every probe waits for memory.
template <class Value>
inline Offset first_not_below(const Value* values, Offset first, Offset last, Value value,
                              Offset guess) {
  Offset low = std::clamp(guess, first, last), high = low;
  for (Offset step = 8; low > first && values[low - 1] >= value; step *= 4) {
    high = low;
    low = std::max(low - step, first);
  }
  for (Offset step = 8; high < last && values[high] < value; step *= 4) {
    low = high;
    high = std::min(high + step, last);
  }
  return std::lower_bound(values + low, values + high, value) - values;
}

/// The first entry of `row` in column `col` or beyond. Neighbouring rows are mostly alike, so the
/// search begins at `guess`.
inline Offset find_near(const CsrMatrix& a, Index row, Index col, Offset guess) {
  return first_not_below(a.col_indices(), a.row_offsets()[row], a.row_offsets()[row + 1], col,
                         guess);
}

}  // namespace csrkit::gpu::look
