#include "gpu/spmm/look/neighbourhood.h"

#include <algorithm>
#include <array>

#include "gpu/spmm/look/around.h"
#include "gpu/spmm/look/column_counter.h"

namespace csrkit::gpu::look {

namespace {

constexpr Index kWindowRows = 64;
using Begins = std::array<Offset, kWindowRows>;

/// The first entry of each row in column `col` or beyond, by binary searches of all rows a step at
/// a time: lines of memory come together, and no branch is hard to predict.
Begins find_together(const CsrMatrix& a, RowRange rows, Index col) {
  const Offset* const ends = a.row_offsets() + rows.first + 1;
  const Index count = rows.end - rows.first;
  Begins found;
  Offset longest = 0, step = 1;
  for (Index i = 0; i < count; ++i) {
    found[i] = ends[i - 1];
    longest = std::max(longest, ends[i] - ends[i - 1]);
  }
  while (step <= longest / 2) step *= 2;
  for (; step > 0; step /= 2) {
    for (Index i = 0; i < count; ++i) {
      const Offset probe = found[i] + step - 1;
      const bool is_inside = probe < ends[i];
      const bool is_below = a.col_indices()[is_inside ? probe : 0] < col;
      found[i] += is_inside && is_below ? step : 0;
    }
  }
  return found;
}

/// The 64 rows around a sampled entry. If their entries are very many, only those in a range of
/// columns are looked at.
class Window {
 public:
  Window(const CsrMatrix& a, Index own, Offset entry)
      : rows_(rows_around(a, own, kWindowRows)), range_{0, a.cols()} {
    constexpr Offset kMostEntries = 512;
    const Offset* const offsets = a.row_offsets();
    const Offset size = entries_of(a, rows_);
    if (size > kMostEntries) {
      const Offset most = std::max<Offset>(a.row_length(own) * kMostEntries / size, 4);
      range_ = columns_around(a, own, entry, most);
    }
    if (range_.from > 0) {
      begins_ = find_together(a, rows_, range_.from);
    } else {
      std::copy(offsets + rows_.first, offsets + rows_.end, begins_.begin());
    }
    constexpr Offset kUsual = 32;  // entries of a row that are looked at
    for (Index row = rows_.first; row < rows_.end; ++row) {
      const Offset begin = begins_[row - rows_.first];
      fetch_columns(a, begin, std::min(begin + kUsual, offsets[row + 1]));
    }
  }

  /// Columns over entries.
  void count(const CsrMatrix& a, int number, ColumnCounter& counter, double& in_parts,
             double& in_windows) const {
    constexpr Index kPart = kWindowRows / ColumnCounter::kParts;
    ColumnCounter::Counts counts;
    Offset entries = 0;
    for (Index row = rows_.first; row < rows_.end; ++row) {
      const Index at = row - rows_.first;
      counter.start(number, at / kPart);
      entries += counter.add_below(range_.to, a.col_indices() + begins_[at],
                                   a.col_indices() + a.row_offsets()[row + 1], counts);
    }
    in_parts += share(counts.in_parts, entries);
    in_windows += share(counts.in_windows, entries);
  }

 private:
  RowRange rows_;
  ColumnRange range_;
  Begins begins_;
};

}  // namespace

Neighbourhood sample_neighbourhood(const CsrMatrix& a, const EntrySample& of_entries) {
  constexpr int kWindows = 12;
  const auto window = [&](int i) {
    const int sampled = (2 * i + 1) * EntrySample::kCount / (2 * kWindows);
    return Window(a, of_entries.row[sampled], of_entries.entry[sampled]);
  };
  ColumnCounter counter;
  double new_in_parts = 0, new_in_windows = 0;
  Window next = window(0);
  for (int i = 0; i < kWindows; ++i) {
    const Window own = next;
    if (i + 1 < kWindows) next = window(i + 1);  // its lines come while this one is counted
    own.count(a, i, counter, new_in_parts, new_in_windows);
  }
  return {kWindows / new_in_parts, kWindows / new_in_windows};
}

}  // namespace csrkit::gpu::look
