#include "gpu/spmm/profile.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "gpu/device/device_info.h"
#include "gpu/spmm/column_bands/column_bands.h"
#include "gpu/spmm/row_panels/lists.h"

namespace csrkit::gpu {

namespace {

/// Counts the distinct columns of groups of rows, and of groups within them, by a hash table
/// without chains. A column is counted again if another one took its place meanwhile: with 4,096
/// places and 1,000 entries this happens to one in twenty. A merge of sorted rows would be exact
/// but take ten times as long, because its branches cannot be predicted.
template <int levels>
class ColumnCounter {
 public:
  void start(int level) { group_[level] += 0x85ebca6bu; }
  /// Adds 1 to `counts[level]` if that level's current group has not seen the column.
  void add(Index col, std::array<Offset, levels>& counts) {
    const std::uint32_t hash = static_cast<std::uint32_t>(col) * 0x9e3779b1u;
    std::array<std::uint32_t, levels>& place = last_[hash >> (32 - kLog2Places)];
    for (int level = 0; level < levels; ++level) {
      const std::uint32_t key = hash + group_[level];
      counts[level] += std::exchange(place[level], key) != key ? 1 : 0;
    }
  }

 private:
  static constexpr int kLog2Places = 12;
  std::array<std::array<std::uint32_t, levels>, 1 << kLog2Places> last_ = {};
  std::array<std::uint32_t, levels> group_ = {};
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
/// the TLB, so these reads cost a line each; later reads of row offsets lie near one of them.
struct RowStretches {
  static constexpr Index kMost = 256;
  Index rows, rows_each, count;
  std::array<Offset, kMost + 1> begin;  // an entry

  explicit RowStretches(const CsrMatrix& a)
      : rows(a.rows()), rows_each(rows / kMost + 1), count((rows - 1) / rows_each + 1) {
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

/// Evenly spread entries and their rows; a row occurs in proportion to its length.
struct EntrySample {
  static constexpr int kCount = 36;
  std::array<Offset, kCount> entry = {};
  std::array<Index, kCount> row = {};

  /// The search for an entry's row begins where it would be if all rows of its stretch were equally
  /// long.
  EntrySample(const CsrMatrix& a, const RowStretches& stretches) {
    const Offset* const offsets = a.row_offsets();
    std::array<Index, kCount> stretch, guess;
    Index at = 0;
    for (int i = 0; i < kCount; ++i) {
      entry[i] = (2 * i + 1) * a.nnz() / (2 * kCount);
      while (stretches.begin[at + 1] <= entry[i]) ++at;
      const double part = static_cast<double>(entry[i] - stretches.begin[at]) /
                          static_cast<double>(stretches.begin[at + 1] - stretches.begin[at]);
      stretch[i] = at;
      guess[i] = stretches.first_row(at) +
                 static_cast<Index>(part * (stretches.first_row(at + 1) - stretches.first_row(at)));
      __builtin_prefetch(offsets + guess[i]);
    }
    for (int i = 0; i < kCount; ++i) {
      const Index first = stretches.first_row(stretch[i]);
      const Index end = stretches.first_row(stretch[i] + 1);
      row[i] = static_cast<Index>(
          first_not_below(offsets, first + 1, end, entry[i] + 1, Offset{guess[i]}) - 1);
    }
  }
};

constexpr double kSampleWeight = 1024;  // of each sampled entry

/// At least one column counts as distinct: a key of 0 looks like an empty place and is not counted.
double share(Offset distinct, Offset entries) {
  return static_cast<double>(std::max<Offset>(distinct, 1)) / static_cast<double>(entries);
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

/// The first entry of `row` in column `col` or beyond. Neighbouring rows are mostly alike, so the
/// search begins at `guess`.
Offset find_near(const CsrMatrix& a, Index row, Index col, Offset guess) {
  return first_not_below(a.col_indices(), a.row_offsets()[row], a.row_offsets()[row + 1], col,
                         guess);
}

/// Samples the panels of evenly spread entries, so a panel counts in proportion to its entries. In
/// a panel of long rows only a stretch of columns is looked at.
PanelSample sample_panels(const CsrMatrix& a, Index panel_rows, const EntrySample& of_entries) {
  constexpr Offset kLongRow = 32, kStretch = 16, kMostOfARow = 2 * kStretch, kValues = 64;
  constexpr int kAhead = 8;
  const Offset* const offsets = a.row_offsets();
  const Index* const cols = a.col_indices();
  const auto panel_of = [&](int i) {
    const Index first = of_entries.row[i] / panel_rows * panel_rows;
    return std::pair(first,
                     static_cast<Index>(std::min<Offset>(Offset{first} + panel_rows, a.rows())));
  };
  const auto is_long = [&](Index first, Index end) {
    return offsets[end] - offsets[first] > kLongRow * panel_rows;
  };
  // The place in `row` that corresponds to the sampled entry's, if both rows are alike.
  const auto guess_in = [&](Index row, int i) {
    const Index own = of_entries.row[i];
    const Offset at = of_entries.entry[i] - offsets[own] - kStretch / 2;
    return offsets[row] + at * a.row_length(row) / a.row_length(own);
  };
  const auto* const values = static_cast<const std::uint16_t*>(a.values());
  const bool has_16_bits = size_of(a.value_kind()) == 2;
  // A is not in cache: prefetched lines come together instead of one by one.
  const auto ask_for = [&](int i) {
    constexpr Offset kLine = 64 / sizeof(Index);
    const auto [first, end] = panel_of(i);
    if (is_long(first, end)) {
      for (Index r = first; r < end; ++r) {
        const Offset at = std::clamp(guess_in(r, i), Offset{0}, a.nnz() - 1);
        __builtin_prefetch(cols + at);
        __builtin_prefetch(cols + std::min(at + kLine, a.nnz() - 1));
      }
    } else {
      for (Offset at = offsets[first]; at < offsets[end]; at += kLine) {
        __builtin_prefetch(cols + at);
      }
    }
    if (has_16_bits) __builtin_prefetch(values + of_entries.entry[i]);
  };
  PanelSample seen;
  ColumnCounter<1> counter;
  double distinct = 0, places = 0;
  for (int i = 0; i < kAhead; ++i) ask_for(i);
  for (int i = 0; i < EntrySample::kCount; ++i) {
    if (i + kAhead < EntrySample::kCount) ask_for(i + kAhead);
    const auto [first, end] = panel_of(i);
    const Index row = of_entries.row[i];
    Offset longest = 0;
    for (Index r = first; r < end; ++r) longest = std::max(longest, a.row_length(r));
    places += static_cast<double>(longest * panel_rows) /
              static_cast<double>(offsets[end] - offsets[first]);
    Index from = 0, to = a.cols();
    if (is_long(first, end)) {
      const Stretch stretch = stretch_around(a, row, of_entries.entry[i], kStretch);
      from = cols[stretch.begin];
      to = cols[stretch.end - 1] + 1;
    }
    counter.start(0);
    Offset entries = 0;
    std::array<Offset, 1> new_columns = {};
    for (Index r = first; r < end; ++r) {
      const Offset begin = from > 0 ? find_near(a, r, from, guess_in(r, i)) : offsets[r];
      const Offset row_end = std::min(offsets[r + 1], begin + kMostOfARow);
      Offset at = begin;
      for (; at < row_end && cols[at] < to; ++at) counter.add(cols[at], new_columns);
      entries += at - begin;
    }
    distinct += share(new_columns[0], entries);
    const Stretch looked_at = stretch_around(a, row, of_entries.entry[i], kValues);
    seen.all_finite = seen.all_finite && are_finite(a, looked_at.begin, looked_at.end);
  }
  seen.entries = static_cast<Offset>(EntrySample::kCount * kSampleWeight);
  seen.distinct = static_cast<Offset>(distinct * kSampleWeight);
  seen.places = static_cast<Offset>(places * kSampleWeight);
  return seen;
}

/// The same for 16 and for 64 neighbouring rows. If 64 rows have very many entries, only a range of
/// columns is looked at.
Neighbourhood sample_neighbourhood(const CsrMatrix& a, const EntrySample& of_entries) {
  constexpr Index kRows = 64, kPart = 16;
  constexpr int kWindows = 12;
  constexpr Offset kMostOfAWindow = 1536;
  enum { kOfPart, kOfWindow };
  const Index* const cols = a.col_indices();
  ColumnCounter<2> counter;
  double new_in_parts = 0, new_in_windows = 0;
  for (int i = 0; i < kWindows; ++i) {
    const int sampled = (2 * i + 1) * EntrySample::kCount / (2 * kWindows);
    const Index first = of_entries.row[sampled] / kRows * kRows;
    const auto end = static_cast<Index>(std::min<Offset>(Offset{first} + kRows, a.rows()));
    const Offset size = a.row_offsets()[end] - a.row_offsets()[first];
    Index from = 0, to = a.cols();
    if (size > kMostOfAWindow) {
      const Index row = of_entries.row[sampled];
      const Offset most = std::max<Offset>(a.row_length(row) * kMostOfAWindow / size, 4);
      const Stretch stretch = stretch_around(a, row, of_entries.entry[sampled], most);
      from = cols[stretch.begin];
      to = cols[stretch.end - 1] + 1;
    }
    counter.start(kOfWindow);
    Offset entries = 0;
    std::array<Offset, 2> new_columns = {};
    Offset guess = 0;  // counted from the row's begin
    constexpr Index kAhead = 8;
    for (Index row = first; row < end; ++row) {
      if (row < end - kAhead) {
        __builtin_prefetch(cols + a.row_offsets()[row + kAhead] + guess);
      }
      if (row % kPart == 0) counter.start(kOfPart);
      Offset at = a.row_offsets()[row];
      if (from > 0) at = find_near(a, row, from, at + guess);
      guess = at - a.row_offsets()[row];
      const Offset row_end = a.row_offsets()[row + 1], begin = at;
      for (; at < row_end && cols[at] < to; ++at) {
        counter.add(cols[at], new_columns);
      }
      entries += at - begin;
    }
    new_in_parts += share(new_columns[kOfPart], entries);
    new_in_windows += share(new_columns[kOfWindow], entries);
  }
  return {kWindows / new_in_parts, kWindows / new_in_windows};
}

/// The same for panels of A's columns, for A^T. Columns of a row are sorted, so those of one panel
/// are neighbours. The lengths of columns are unknown and count as equal.
PanelSample sample_column_panels(const CsrMatrix& a, Index panel_cols,
                                 const EntrySample& of_entries) {
  constexpr Offset kStretch = 64;  // of a long row
  PanelSample seen;
  double distinct = 0;
  for (int i = 0; i < EntrySample::kCount; ++i) {
    const Index row = of_entries.row[i];
    const auto [begin, end] = stretch_around(a, row, of_entries.entry[i], kStretch);
    Offset panels = 0;
    Index panel = -1;
    for (Offset at = begin; at < end; ++at) {
      const Index own = a.col_indices()[at] & ~(panel_cols - 1);  // a power of two
      panels += std::exchange(panel, own) != own ? 1 : 0;
    }
    distinct += static_cast<double>(panels) / static_cast<double>(end - begin);
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

/// Whether the host can see the rows of op(A), or those of one with the same pattern.
bool rows_are_seen(const SpmmProblem& problem) {
  return problem.a.space() == MemorySpace::host && problem.a.nnz() > 0 &&
         (!problem.transpose_a || looks_symmetric(problem.a));
}

}  // namespace

BandSample sample_for_bands(const SpmmProblem& problem) {
  constexpr Offset kStretches = 4, kEntries = 256;
  constexpr int kBits = 64;
  const CsrMatrix& a = problem.a;
  const auto l2_bytes = static_cast<double>(current_l2_bytes());
  // Half of L2: the other half holds copies of the same lines, for the multiprocessors near it.
  const auto held = static_cast<Offset>(l2_bytes / 2 / kBandSliceBytes);
  BandSample sample;
  sample.new_columns = 0;
  if (!rows_are_seen(problem) || a.cols() <= held) return sample;
  const Offset stretch = std::clamp<Offset>(a.nnz() / kStretches, 1, held);
  Offset distinct = 0;
  std::vector<std::uint64_t> named;
  for (Offset i = 0; i < kStretches; ++i) {
    named.assign(static_cast<std::size_t>(a.cols()) / kBits + 1, 0);
    const Offset begin = (a.nnz() - stretch) * i / (kStretches - 1);
    for (Offset at = begin; at < begin + stretch; ++at) {
      const auto col = static_cast<std::size_t>(a.col_indices()[at]);
      std::uint64_t& word = named[col / kBits];
      const std::uint64_t bit = std::uint64_t{1} << col % kBits;
      distinct += (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
  }
  sample.new_columns = static_cast<double>(distinct) / static_cast<double>(kStretches * stretch);
  // Among evenly spread entries a row of n entries occurs n times as often as a row of one.
  const double shortest_cut = kEntriesOfABand * column_bands(a.cols(), l2_bytes);
  sample.cut_entries = 0;
  const Offset* const offsets = a.row_offsets();
  for (Offset i = 0; i < kEntries; ++i) {
    const Offset entry = (2 * i + 1) * a.nnz() / (2 * kEntries);
    const Offset* const behind = std::upper_bound(offsets, offsets + a.rows() + 1, entry);
    const auto length = static_cast<double>(behind[0] - behind[-1]);
    if (length < shortest_cut) continue;
    sample.cut_entries += 1.0 / kEntries;
    sample.cut_rows += static_cast<double>(a.nnz()) / kEntries / length;
  }
  return sample;
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

void look_at_panels(const SpmmProblem& problem, SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return;
  const Index panel_rows = gpu::panel_rows(profile.b_bytes);
  const RowStretches stretches(a);
  const EntrySample of_entries(a, stretches);
  if (rows_are_seen(problem)) {
    profile.sample = sample_panels(a, panel_rows, of_entries);
    profile.longest = longest_row(a, stretches, of_entries);
  } else {
    profile.sample = sample_column_panels(a, panel_rows, of_entries);
  }
}

void look_at_neighbourhood(const SpmmProblem& problem, SpmmProfile& profile) {
  const CsrMatrix& a = problem.a;
  if (a.space() != MemorySpace::host || a.nnz() == 0) return;
  const EntrySample of_entries(a, RowStretches(a));
  if (rows_are_seen(problem)) {
    profile.near = sample_neighbourhood(a, of_entries);
  } else {
    profile.near = {sample_column_panels(a, 16, of_entries).sharing(),
                    sample_column_panels(a, 64, of_entries).sharing()};
  }
}

SpmmProfile profile_of(const SpmmProblem& problem) {
  SpmmProfile profile = sizes_of(problem);
  look_at_panels(problem, profile);
  look_at_neighbourhood(problem, profile);
  return profile;
}

}  // namespace csrkit::gpu
