// Which entries of A are looked at.
#pragma once

#include <algorithm>
#include <array>

#include "core/base/fetch.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit::gpu {

/// Evenly spread entries and their rows; a row occurs in proportion to its length.
struct EntrySample {
  static constexpr int kCount = 36;
  std::array<Offset, kCount> entry = {};
  std::array<Index, kCount> row = {};
  bool sees_rows = false;  // A's rows are those of op(A), or have the same pattern
};

namespace look {

/// Where up to 256 stretches of equally many rows begin. A is not in cache, nor are its pages in
/// the TLB: what is read is asked for first, so that lines come together instead of one by one.
struct RowStretches {
  static constexpr Index kMost = 256;
  Index rows, rows_each, count;
  std::array<Offset, kMost + 1> begin;  // an entry

  explicit RowStretches(const CsrMatrix& a)
      : rows(a.rows()), rows_each(rows / kMost + 1), count((rows - 1) / rows_each + 1) {
    for (Index i = 0; i < count; ++i) fetch(a.row_offsets() + first_row(i));
    for (Index i = 0; i < count; ++i) begin[i] = a.row_offsets()[first_row(i)];
    begin[count] = a.nnz();
  }
  Index first_row(Index stretch) const {
    return static_cast<Index>(std::min<Offset>(Offset{stretch} * rows_each, rows));
  }
};

EntrySample sample_entries(const CsrMatrix& a, const RowStretches& stretches);

/// The longest row found, among the rows of sampled entries and the rows of the few stretches with
/// the most entries. A row much longer than all others makes its stretch one of these, even if it
/// has few of all entries.
Offset longest_row(const CsrMatrix& a, const RowStretches& stretches,
                   const EntrySample& of_entries);

}  // namespace look

}  // namespace csrkit::gpu
