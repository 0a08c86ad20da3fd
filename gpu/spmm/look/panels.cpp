#include "gpu/spmm/look/panels.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gpu/spmm/look/around.h"
#include "gpu/spmm/look/column_counter.h"

namespace csrkit::gpu::look {

namespace {

constexpr double kSampleWeight = 1024;  // of each sampled entry

constexpr Offset kValues = 64;  // around a sampled entry, and columns for A^T

/// Whether values of 16 bits are finite; true for other kinds. Some numbers of SuiteSparse are
/// above 65,504, the largest of f16.
bool are_finite(const CsrMatrix& a, Offset begin, Offset end) {
  if (size_of(a.value_kind()) != 2) return true;
  const unsigned exponent = a.value_kind() == ValueKind::f16 ? 0x7c00 : 0x7f80;
  const auto* bits = static_cast<const std::uint16_t*>(a.values());
  return std::none_of(bits + begin, bits + end,
                      [&](unsigned value) { return (value & exponent) == exponent; });
}

/// Asks for those that are_finite looks at.
void fetch_values(const CsrMatrix& a, const EntrySample& of_entries, int i) {
  if (size_of(a.value_kind()) != 2) return;
  const auto* const values = static_cast<const std::uint16_t*>(a.values());
  fetch(values + std::max<Offset>(of_entries.entry[i] - kValues / 2, 0));
  fetch(values + of_entries.entry[i]);
}

/// The panel of a sampled entry. If its rows are long, only a stretch of columns is looked at.
class SampledPanel {
 public:
  SampledPanel(const CsrMatrix& a, Index panel_rows, const EntrySample& sample, int i)
      : a_(a),
        entry_(sample.entry[i]),
        row_(sample.row[i]),
        rows_(rows_around(a, row_, panel_rows)),
        is_long_(entries_of(a, rows_) > kLongRow * panel_rows) {}

  void fetch_entries() const {
    if (!is_long_) {
      fetch_columns(a_, a_.row_offsets()[rows_.first], a_.row_offsets()[rows_.end]);
      return;
    }
    for (Index row = rows_.first; row < rows_.end; ++row) {
      fetch_columns(a_, guess_in(row), guess_in(row) + kMostOfARow);
    }
  }

  /// Entries, if all rows were as long as the longest, over entries.
  double unevenness(Index panel_rows) const {
    Offset longest = 0;
    for (Index r = rows_.first; r < rows_.end; ++r) longest = std::max(longest, a_.row_length(r));
    return share(longest * panel_rows, entries_of(a_, rows_));
  }

  /// Columns over entries.
  double distinct(ColumnCounter& counter) const {
    const Index* const cols = a_.col_indices();
    ColumnRange range = {0, a_.cols()};
    if (is_long_) range = columns_around(a_, row_, entry_, kStretch);
    Offset entries = 0;
    ColumnCounter::Counts counts;
    for (Index r = rows_.first; r < rows_.end; ++r) {
      const Offset begin =
          range.from > 0 ? find_near(a_, r, range.from, guess_in(r)) : a_.row_offsets()[r];
      const Offset end = std::min(a_.row_offsets()[r + 1], begin + kMostOfARow);
      entries += counter.add_below(range.to, cols + begin, cols + end, counts);
    }
    return share(counts.in_windows, entries);
  }

 private:
  static constexpr Offset kLongRow = 32, kStretch = 16, kMostOfARow = 2 * kStretch;

  /// The place in `row` that corresponds to the sampled entry's, if both rows are alike.
  Offset guess_in(Index row) const {
    const Offset at = entry_ - a_.row_offsets()[row_] - kStretch / 2;
    return a_.row_offsets()[row] + at * a_.row_length(row) / a_.row_length(row_);
  }

  const CsrMatrix& a_;
  Offset entry_;
  Index row_;
  RowRange rows_;
  bool is_long_;
};

}  // namespace

PanelSample sample_panels(const CsrMatrix& a, Index panel_rows, const EntrySample& of_entries) {
  for (const Index row : of_entries.row) {
    const RowRange rows = rows_around(a, row, panel_rows);
    fetch(a.row_offsets() + rows.first);
    fetch(a.row_offsets() + rows.end);
  }
  for (int i = 0; i < EntrySample::kCount; ++i) {
    SampledPanel(a, panel_rows, of_entries, i).fetch_entries();
    fetch_values(a, of_entries, i);
  }
  PanelSample seen;
  ColumnCounter counter;
  double distinct = 0, places = 0;
  for (int i = 0; i < EntrySample::kCount; ++i) {
    const SampledPanel panel(a, panel_rows, of_entries, i);
    counter.start(i, 0);
    places += panel.unevenness(panel_rows);
    distinct += panel.distinct(counter);
    const Stretch looked_at = stretch_around(a, of_entries.row[i], of_entries.entry[i], kValues);
    seen.all_finite = seen.all_finite && are_finite(a, looked_at.begin, looked_at.end);
  }
  seen.entries = static_cast<Offset>(EntrySample::kCount * kSampleWeight);
  seen.distinct = static_cast<Offset>(distinct * kSampleWeight);
  seen.places = static_cast<Offset>(places * kSampleWeight);
  return seen;
}

PanelSample sample_column_panels(const CsrMatrix& a, Index panel_cols,
                                 const EntrySample& of_entries) {
  for (int i = 0; i < EntrySample::kCount; ++i) {
    const auto [begin, end] = stretch_around(a, of_entries.row[i], of_entries.entry[i], kValues);
    fetch_columns(a, begin, end);
    fetch_values(a, of_entries, i);
  }
  PanelSample seen;
  double distinct = 0;
  for (int i = 0; i < EntrySample::kCount; ++i) {
    const Index row = of_entries.row[i];
    const auto [begin, end] = stretch_around(a, row, of_entries.entry[i], kValues);
    Offset panels = 0;
    Index panel = -1;
    for (Offset at = begin; at < end; ++at) {
      const Index own = a.col_indices()[at] & ~(panel_cols - 1);  // a power of two
      panels += std::exchange(panel, own) != own ? 1 : 0;
    }
    distinct += share(panels, end - begin);
    seen.all_finite = seen.all_finite && are_finite(a, begin, end);
  }
  seen.entries = static_cast<Offset>(EntrySample::kCount * kSampleWeight);
  seen.distinct = static_cast<Offset>(distinct * kSampleWeight);
  seen.places = seen.entries;
  return seen;
}

}  // namespace csrkit::gpu::look
