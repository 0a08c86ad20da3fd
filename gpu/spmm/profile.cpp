#include "gpu/spmm/profile.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/fetch.h"
#include "gpu/device/device_info.h"
#include "gpu/spmm/row_panels/lists.h"

namespace csrkit::gpu {

namespace {

/// Counts the distinct columns of windows of rows, and of parts of them, by a hash table without
/// chains. A column is counted again if another one took its place meanwhile: with 4,096 places and
/// 1,000 entries this happens to one in twenty. A merge of sorted rows would be exact but take ten
/// times as long, because its branches cannot be predicted.
class ColumnCounter {
 public:
  struct Counts {
    Offset in_parts = 0, in_windows = 0;
  };
  static constexpr std::uint32_t kParts = 4;  // of a window, at most
  /// Fewer than 1,000 windows.
  void start(int window, Index part) {
    group_ = (static_cast<std::uint32_t>(window) + 1) * kParts + static_cast<std::uint32_t>(part);
  }
  void add(Index col, Counts& counts) {
    // The place is the upper bits of the hash. The lower ones and the part are left to compare.
    const std::uint32_t hash = static_cast<std::uint32_t>(col) * 0x9e3779b1u;
    const std::uint32_t key = (hash << kLog2Places) + group_;
    const std::uint32_t differs = std::exchange(last_[hash >> (32 - kLog2Places)], key) ^ key;
    counts.in_parts += differs != 0 ? 1 : 0;
    counts.in_windows += differs >= kParts ? 1 : 0;
  }

 private:
  static constexpr int kLog2Places = 12;
  std::array<std::uint32_t, 1 << kLog2Places> last_ = {};
  std::uint32_t group_ = 0;
};

/// Whether values of 16 bits are finite; true for other kinds. Some numbers of SuiteSparse are
/// above 65,504, the largest of f16.
bool are_finite(const CsrMatrix& a, Offset begin, Offset end) {
  if (size_of(a.value_kind()) != 2) return true;
  const unsigned exponent = a.value_kind() == ValueKind::f16 ? 0x7c00 : 0x7f80;
  const auto* bits = static_cast<const std::uint16_t*>(a.values());
  return std::none_of(bits + begin, bits + end,
                      [&](unsigned value) { return (value & exponent) == exponent; });
}

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

/// The first place in [first, last) of ascending values that holds `value` or more; `last` if none
/// does. The search begins at `guess`: A is not in cache, and every probe waits for memory.
template <class Value>
Offset first_not_below(const Value* values, Offset first, Offset last, Value value, Offset guess) {
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

/// The search for an entry's row begins where it would be if all rows of its stretch were equally
/// long.
EntrySample sample_entries(const CsrMatrix& a, const RowStretches& stretches) {
  constexpr int kCount = EntrySample::kCount;
  const Offset* const offsets = a.row_offsets();
  EntrySample sample;
  std::array<Index, kCount> stretch, guess;
  Index at = 0;
  for (int i = 0; i < kCount; ++i) {
    const Offset entry = (2 * i + 1) * a.nnz() / (2 * kCount);
    while (stretches.begin[at + 1] <= entry) ++at;
    const double part = static_cast<double>(entry - stretches.begin[at]) /
                        static_cast<double>(stretches.begin[at + 1] - stretches.begin[at]);
    sample.entry[i] = entry;
    stretch[i] = at;
    guess[i] = stretches.first_row(at) +
               static_cast<Index>(part * (stretches.first_row(at + 1) - stretches.first_row(at)));
    fetch(offsets + guess[i]);
  }
  for (int i = 0; i < kCount; ++i) {
    const Index first = stretches.first_row(stretch[i]);
    const Index end = stretches.first_row(stretch[i] + 1);
    sample.row[i] = static_cast<Index>(
        first_not_below(offsets, first + 1, end, sample.entry[i] + 1, Offset{guess[i]}) - 1);
  }
  return sample;
}

constexpr double kSampleWeight = 1024;  // of each sampled entry

double share(Offset count, Offset entries) {
  return static_cast<double>(count) / static_cast<double>(entries);
}

constexpr Offset kValues = 64;  // around a sampled entry, and columns for A^T

/// Asks for those that are_finite looks at.
void fetch_values(const CsrMatrix& a, const EntrySample& of_entries, int i) {
  if (size_of(a.value_kind()) != 2) return;
  const auto* const values = static_cast<const std::uint16_t*>(a.values());
  fetch(values + std::max<Offset>(of_entries.entry[i] - kValues / 2, 0));
  fetch(values + of_entries.entry[i]);
}

struct RowRange {
  Index first, end;
};
RowRange rows_around(const CsrMatrix& a, Index row, Index count) {
  const Index first = row / count * count;
  return {first, static_cast<Index>(std::min<Offset>(Offset{first} + count, a.rows()))};
}
Offset entries_of(const CsrMatrix& a, RowRange rows) {
  return a.row_offsets()[rows.end] - a.row_offsets()[rows.first];
}

/// At most `most` entries of `row` around `entry`.
struct Stretch {
  Offset begin, end;
};
Stretch stretch_around(const CsrMatrix& a, Index row, Offset entry, Offset most) {
  const Offset first = a.row_offsets()[row], last = a.row_offsets()[row + 1];
  const Offset begin = std::clamp(entry - most / 2, first, std::max(last - most, first));
  return {begin, std::min(begin + most, last)};
}

/// The columns of these.
struct ColumnRange {
  Index from, to;
};
ColumnRange columns_around(const CsrMatrix& a, Index row, Offset entry, Offset most) {
  const Stretch stretch = stretch_around(a, row, entry, most);
  return {a.col_indices()[stretch.begin], a.col_indices()[stretch.end - 1] + 1};
}

/// Asks for the columns of these entries, as far as there are any.
void fetch_columns(const CsrMatrix& a, Offset begin, Offset end) {
  constexpr Offset kLine = 64 / sizeof(Index);
  const Offset first = std::max<Offset>(begin, 0) / kLine * kLine;
  for (Offset at = first; at < std::min(end, a.nnz()); at += kLine) fetch(a.col_indices() + at);
}

/// The first entry of `row` in column `col` or beyond. Neighbouring rows are mostly alike, so the
/// search begins at `guess`.
Offset find_near(const CsrMatrix& a, Index row, Index col, Offset guess) {
  return first_not_below(a.col_indices(), a.row_offsets()[row], a.row_offsets()[row + 1], col,
                         guess);
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
      Offset at = begin;
      for (; at < end && cols[at] < range.to; ++at) counter.add(cols[at], counts);
      entries += at - begin;
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

/// Samples the panels of evenly spread entries, so a panel counts in proportion to its entries.
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

/// The same for 16 and for 64 neighbouring rows.
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

/// The same for panels of A's columns, for A^T. Columns of a row are sorted, so those of one panel
/// are neighbours. The lengths of columns are unknown and count as equal.
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

/// The longest row found, among the rows of sampled entries and the rows of the few stretches with
/// the most entries. A row much longer than all others makes its stretch one of these, even if it
/// has few of all entries.
Offset longest_row(const CsrMatrix& a, const RowStretches& stretches,
                   const EntrySample& of_entries) {
  constexpr Index kMostStretches = 8, kMostRows = 4096;
  Offset longest = 0;
  for (const Index row : of_entries.row) longest = std::max(longest, a.row_length(row));
  std::array<std::pair<Offset, Index>, RowStretches::kMost> fullest;  // entries, stretch
  for (Index i = 0; i < stretches.count; ++i) {
    fullest[i] = {stretches.begin[i + 1] - stretches.begin[i], i};
  }
  const Index looked_at =
      std::min(std::clamp(kMostRows / stretches.rows_each, 2, kMostStretches), stretches.count);
  std::partial_sort(fullest.begin(), fullest.begin() + looked_at, fullest.begin() + stretches.count,
                    std::greater<>());
  for (Index i = 0; i < looked_at && fullest[i].first > longest; ++i) {
    const Index stretch = fullest[i].second, end = stretches.first_row(stretch + 1);
    for (Index row = stretches.first_row(stretch); row < end; ++row) {
      longest = std::max(longest, a.row_length(row));
    }
  }
  return longest;
}

/// Whether sampled entries (i, j) all have a counterpart (j, i).
bool looks_symmetric(const CsrMatrix& a) {
  constexpr Offset kSample = 64;
  if (a.rows() != a.cols() || a.nnz() == 0) return false;
  for (Offset i = 0; i < kSample; ++i) {
    const auto row = static_cast<Index>(i * a.rows() / kSample);
    const Offset begin = a.row_offsets()[row], end = a.row_offsets()[row + 1];
    if (begin == end) continue;
    const Index col = a.col_indices()[begin + (end - begin) / 2];
    const Index* of_col = a.col_indices() + a.row_offsets()[col];
    if (!std::binary_search(of_col, a.col_indices() + a.row_offsets()[col + 1], row)) return false;
  }
  return true;
}

}  // namespace

bool rows_are_seen(const SpmmProblem& problem) {
  return problem.a.space() == MemorySpace::host && problem.a.nnz() > 0 &&
         (!problem.transpose_a || looks_symmetric(problem.a));
}

SpmmProfile sizes_of(const SpmmProblem& problem) {
  SpmmProfile profile;
  profile.rows = problem.output_rows();
  profile.cols = problem.input_rows();
  profile.nnz = problem.a.nnz();
  profile.dense_cols = problem.dense_cols;
  profile.b_bytes = size_of(problem.b);
  profile.multiprocessors = current_multiprocessors();
  profile.l2_bytes = static_cast<double>(current_l2_bytes());
  return profile;
}

EntrySample look_at_panels(const SpmmProblem& problem, SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return {};
  const Index panel_rows = gpu::panel_rows(profile.b_bytes);
  const RowStretches stretches(a);
  EntrySample of_entries = sample_entries(a, stretches);
  of_entries.sees_rows = rows_are_seen(problem);
  if (of_entries.sees_rows) {
    profile.sample = sample_panels(a, panel_rows, of_entries);
    profile.longest = longest_row(a, stretches, of_entries);
  } else {
    profile.sample = sample_column_panels(a, panel_rows, of_entries);
  }
  return of_entries;
}

void look_at_neighbourhood(const SpmmProblem& problem, const EntrySample& of_entries,
                           SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return;
  if (of_entries.sees_rows) {
    profile.near = sample_neighbourhood(a, of_entries);
  } else {
    profile.near = {sample_column_panels(a, 16, of_entries).sharing(),
                    sample_column_panels(a, 64, of_entries).sharing()};
  }
}

SpmmProfile profile_of(const SpmmProblem& problem) {
  SpmmProfile profile = sizes_of(problem);
  look_at_neighbourhood(problem, look_at_panels(problem, profile), profile);
  return profile;
}

}  // namespace csrkit::gpu
