#include "gpu/spmm/look/neighbourhood.h"

#include <algorithm>
#include <array>

#include "gpu/spmm/look/around.h"
#include "gpu/spmm/look/column_counter.h"

namespace csrkit::gpu::look {

namespace {

constexpr Index kWindowRows = 64;

/// The first entry of each row in column `col` or beyond, by binary searches of all rows a step at
/// a time: lines of memory come together, and no branch is hard to predict.
std::array<Offset, kWindowRows> find_together(const CsrMatrix& a, RowRange rows, Index col) {
  const Offset* const ends = a.row_offsets() + rows.first + 1;
  const Index count = rows.end - rows.first;
  std::array<Offset, kWindowRows> found;
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
  constexpr Offset kUsual = 32;  // entries of a row that are looked at
  for (Index i = 0; i < count; ++i) fetch_columns(a, found[i], found[i] + kUsual);
  return found;
}

/// Counts the columns of the 64 rows around a sampled entry, over their entries. If these are very
/// many, only a range of columns is looked at.
struct Window {
  double in_parts = 0, in_windows = 0;

  Window(const CsrMatrix& a, Index own, Offset entry, int number, ColumnCounter& counter) {
    constexpr Index kPart = kWindowRows / ColumnCounter::kParts, kAhead = 8;
    constexpr Offset kMostEntries = 1536, kLongRow = 64;
    const Offset* const offsets = a.row_offsets();
    const Index* const cols = a.col_indices();
    const RowRange rows = rows_around(a, own, kWindowRows);
    const Offset size = entries_of(a, rows);
    ColumnRange range = {0, a.cols()};
    if (size > kMostEntries) {
      const Offset most = std::max<Offset>(a.row_length(own) * kMostEntries / size, 4);
      range = columns_around(a, own, entry, most);
    }
    const bool is_long = size > kLongRow * kWindowRows;
    std::array<Offset, kWindowRows> found;
    if (is_long) found = find_together(a, rows, range.from);
    Offset entries = 0, guess = 0;  // the guess is counted from the row's begin
    ColumnCounter::Counts counts;
    for (Index row = rows.first; row < rows.end; ++row) {
      if (row < rows.end - kAhead) fetch(cols + offsets[row + kAhead] + guess);
      counter.start(number, (row - rows.first) / kPart);
      Offset begin = offsets[row];
      if (is_long) {
        begin = found[row - rows.first];
      } else if (range.from > 0) {
        begin = find_near(a, row, range.from, begin + guess);
      }
      guess = begin - offsets[row];
      Offset at = begin;
      for (; at < offsets[row + 1] && cols[at] < range.to; ++at) counter.add(cols[at], counts);
      entries += at - begin;
    }
    in_parts = share(counts.in_parts, entries);
    in_windows = share(counts.in_windows, entries);
  }
};

}  // namespace

Neighbourhood sample_neighbourhood(const CsrMatrix& a, const EntrySample& of_entries) {
  constexpr int kWindows = 12;
  ColumnCounter counter;
  double new_in_parts = 0, new_in_windows = 0;
  for (int i = 0; i < kWindows; ++i) {
    const int sampled = (2 * i + 1) * EntrySample::kCount / (2 * kWindows);
    const Window window(a, of_entries.row[sampled], of_entries.entry[sampled], i, counter);
    new_in_parts += window.in_parts;
    new_in_windows += window.in_windows;
  }
  return {kWindows / new_in_parts, kWindows / new_in_windows};
}

}  // namespace csrkit::gpu::look
