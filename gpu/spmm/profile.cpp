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

/// Counts different columns, panel by panel. A column whose place another one takes in the meantime
/// is counted again: with 4,096 places and panels of 1,000 entries that happens to one in twenty.
/// Looking for the lowest in four sorted rows would be exact, and ten times as long, as nobody can
/// foretell which row has it.
template <int kLog2Places>
class ColumnCounter {
 public:
  void start_panel() { panel_ += 0x85ebca6bu; }
  bool is_new(Index col) {
    const std::uint32_t hash = static_cast<std::uint32_t>(col) * 0x9e3779b1u;
    std::uint32_t& place = last_[hash >> (32 - kLog2Places)];
    const std::uint32_t key = hash + panel_;
    return std::exchange(place, key) != key;
  }

 private:
  std::array<std::uint32_t, 1 << kLog2Places> last_ = {};
  std::uint32_t panel_ = 0;
};

/// Multiples of the golden ratio: evenly spread over `count`, wherever a loop over `i` ends.
Offset spread(std::uint64_t i, std::uint64_t count) {
  return static_cast<Offset>(((i * 0x9e3779b97f4a7c15u) >> 32) * count >> 32);
}

/// Whether values in 16 bits are, as numbers of SuiteSparse above 65,504 are not in f16.
bool are_finite(const CsrMatrix& a, Offset begin, Offset end) {
  if (size_of(a.value_kind()) != 2) return true;
  const unsigned exponent = a.value_kind() == ValueKind::f16 ? 0x7c00 : 0x7f80;
  const auto* bits = static_cast<const std::uint16_t*>(a.values());
  return std::none_of(bits + begin, bits + end,
                      [&](unsigned value) { return (value & exponent) == exponent; });
}

/// Evenly spread entries and their rows: long ones have many.
struct EntrySample {
  static constexpr int kCount = 48;
  std::array<Offset, kCount> entry = {};
  std::array<Index, kCount> row = {};

  /// The searches go step by step together, so that their loads are under way at once.
  explicit EntrySample(const CsrMatrix& a) {
    const Offset* offsets = a.row_offsets();
    for (int i = 0; i < kCount; ++i) entry[i] = (2 * i + 1) * a.nnz() / (2 * kCount);
    Index step = 1;
    while (step <= a.rows() / 2) step *= 2;
    for (; step > 0; step /= 2) {
      for (int i = 0; i < kCount; ++i) {
        const Index next = row[i] + step;
        if (next < a.rows() && offsets[next] <= entry[i]) row[i] = next;
      }
    }
  }
};

constexpr double kSampleWeight = 1024;  // of each of them

/// What the panels of evenly spread entries have, so that each panel counts by what it has of all
/// entries. Of a panel of long rows a stretch of columns will do.
PanelSample sample_panels(const CsrMatrix& a, Index panel_rows, const EntrySample& of_entries) {
  constexpr Offset kLongRow = 32, kStretch = 16, kMostOfARow = 2 * kStretch;
  constexpr int kAhead = 4;
  const Offset* const offsets = a.row_offsets();
  const Index* const cols = a.col_indices();
  // A is in no cache: asked for ahead, its lines come at once instead of one by one.
  const auto ask_for = [&](int i) {
    constexpr Offset kLine = 64 / sizeof(Index), kMostLines = 8;  // the processor thinks of more
    const Index first = of_entries.row[i] / panel_rows * panel_rows;
    const Offset from = std::max(offsets[first], of_entries.entry[i] - kLongRow * panel_rows);
    for (Offset line = 0; line < kMostLines; ++line) {
      __builtin_prefetch(cols + std::min(from + line * kLine, a.nnz() - 1));
    }
  };
  PanelSample seen;
  ColumnCounter<12> counter;
  double distinct = 0, places = 0;
  for (int i = 0; i < kAhead; ++i) ask_for(i);
  for (int i = 0; i < EntrySample::kCount; ++i) {
    if (i + kAhead < EntrySample::kCount) ask_for(i + kAhead);
    const Index row = of_entries.row[i], first = row / panel_rows * panel_rows;
    const auto end = static_cast<Index>(std::min<Offset>(Offset{first} + panel_rows, a.rows()));
    const Offset size = offsets[end] - offsets[first];
    Offset longest = 0;
    for (Index r = first; r < end; ++r) longest = std::max(longest, a.row_length(r));
    places += static_cast<double>(longest * panel_rows) / static_cast<double>(size);
    Index from = 0, to = a.cols();
    if (size > kLongRow * panel_rows) {
      const Offset begin = std::clamp(of_entries.entry[i] - kStretch / 2, offsets[row],
                                      std::max(offsets[row + 1] - kStretch, offsets[row]));
      from = cols[begin];
      to = cols[std::min(begin + kStretch, offsets[row + 1]) - 1] + 1;
    }
    counter.start_panel();
    Offset entries = 0, new_columns = 0;
    for (Index r = first; r < end; ++r) {
      const Index* at = cols + offsets[r];
      const Index* row_end = cols + offsets[r + 1];
      if (from > 0) at = std::lower_bound(at, row_end, from);
      if (row_end - at > kMostOfARow) row_end = at + kMostOfARow;
      const Index* const begin = at;
      for (; at < row_end && *at < to; ++at) new_columns += counter.is_new(*at) ? 1 : 0;
      entries += at - begin;
      seen.all_finite = seen.all_finite && are_finite(a, begin - cols, at - cols);
    }
    distinct += static_cast<double>(new_columns) / static_cast<double>(entries);
  }
  seen.entries = static_cast<Offset>(EntrySample::kCount * kSampleWeight);
  seen.distinct = static_cast<Offset>(distinct * kSampleWeight);
  seen.places = static_cast<Offset>(places * kSampleWeight);
  return seen;
}

/// From so few windows of rows that it takes microseconds. Where a window has very many entries, of
/// a range of columns alone.
Neighbourhood sample_neighbourhood(const CsrMatrix& a) {
  constexpr Index kRows = 64, kPart = 16;
  constexpr std::uint64_t kWindows = 12;
  constexpr Offset kMostOfAWindow = 8192, kEnough = 8192;
  ColumnCounter<14> of_part, of_window;
  Offset entries = 0, new_in_part = 0, new_in_window = 0;
  const auto windows = static_cast<std::uint64_t>(a.rows() / kRows);
  for (std::uint64_t i = 1; i <= std::min(kWindows, windows) && entries < kEnough; ++i) {
    const Offset* const of_row = a.row_offsets() + spread(i, windows) * kRows;
    const Offset size = std::max(of_row[kRows] - of_row[0], kMostOfAWindow);
    const Offset width = a.cols() * kMostOfAWindow / size;
    const Offset from = spread(i, static_cast<std::uint64_t>(a.cols() - width + 1));
    of_window.start_panel();
    for (Index row = 0; row < kRows; ++row) {
      if (row % kPart == 0) of_part.start_panel();
      const Index* at = a.col_indices() + of_row[row];
      const Index* const end = a.col_indices() + of_row[row + 1];
      if (from > 0) at = std::lower_bound(at, end, static_cast<Index>(from));
      for (; at < end && *at < from + width; ++at) {
        new_in_part += of_part.is_new(*at) ? 1 : 0;
        new_in_window += of_window.is_new(*at) ? 1 : 0;
        ++entries;
      }
    }
  }
  if (entries == 0) return {};
  const auto sharing = [entries](Offset distinct) {
    // One column is not counted: that whose key is 0, as that of an empty place.
    return static_cast<double>(entries) / static_cast<double>(std::max<Offset>(distinct, 1));
  };
  return {sharing(new_in_part), sharing(new_in_window)};
}

/// The same of panels of A's columns: which columns of a row are in one panel shows as they are
/// sorted. How long columns are does not, so all count as alike.
PanelSample sample_column_panels(const CsrMatrix& a, Index panel_cols,
                                 const EntrySample& of_entries) {
  constexpr Offset kStretch = 64;  // of a long row
  const Offset* const offsets = a.row_offsets();
  PanelSample seen;
  double distinct = 0;
  for (int i = 0; i < EntrySample::kCount; ++i) {
    const Index row = of_entries.row[i];
    const Offset begin = std::clamp(of_entries.entry[i] - kStretch / 2, offsets[row],
                                    std::max(offsets[row + 1] - kStretch, offsets[row]));
    const Offset end = std::min(begin + kStretch, offsets[row + 1]);
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

/// The longest row, as far as it stands out: those of sampled entries, and of the stretches of rows
/// that have the most entries, of a few hundred stretches, as one row much longer than all others
/// makes its stretch stand out, however few of all entries it has.
Offset longest_row(const CsrMatrix& a, const EntrySample& of_entries) {
  constexpr Index kStretches = 512;
  constexpr std::size_t kFullest = 16;
  const Offset* const offsets = a.row_offsets();
  Offset longest = 0;
  for (const Index row : of_entries.row) longest = std::max(longest, a.row_length(row));
  const Index rows = a.rows() / kStretches + 1;
  std::vector<std::pair<Offset, Index>> stretches;  // entries, first row
  stretches.reserve(kStretches);
  for (Offset row = 0; row < a.rows(); row += rows) {
    stretches.emplace_back(offsets[std::min<Offset>(row + rows, a.rows())] - offsets[row],
                           static_cast<Index>(row));
  }
  const auto last =
      stretches.begin() + static_cast<std::ptrdiff_t>(std::min(kFullest, stretches.size()));
  std::partial_sort(stretches.begin(), last, stretches.end(), std::greater<>());
  for (auto each = stretches.begin(); each != last && each->first > longest; ++each) {
    const auto end = std::min<Offset>(Offset{each->second} + rows, a.rows());
    for (Offset row = each->second; row < end; ++row) {
      longest = std::max(longest, a.row_length(static_cast<Index>(row)));
    }
  }
  return longest;
}

/// Whether sampled entries have a mirror image.
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
  // Half of L2 holds what the other half holds, for the multiprocessors on its side.
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
  // Of evenly spread entries, a row of n is met n times as often as one of one.
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

SpmmProfile profile_of(const SpmmProblem& problem) {
  SpmmProfile profile;
  profile.rows = problem.output_rows();
  profile.cols = problem.input_rows();
  profile.nnz = problem.a.nnz();
  profile.dense_cols = problem.dense_cols;
  profile.b_bytes = size_of(problem.b);
  profile.multiprocessors = current_multiprocessors();
  profile.l2_bytes = static_cast<double>(current_l2_bytes());
  const bool is_on_host = problem.a.space() == MemorySpace::host;
  if (!is_on_host || problem.a.nnz() == 0) return profile;
  const Index panel_rows = gpu::panel_rows(profile.b_bytes);
  const EntrySample of_entries(problem.a);
  if (rows_are_seen(problem)) {
    profile.sample = sample_panels(problem.a, panel_rows, of_entries);
    profile.longest = longest_row(problem.a, of_entries);
    profile.near = sample_neighbourhood(problem.a);
  } else {
    profile.sample = sample_column_panels(problem.a, panel_rows, of_entries);
    profile.near = {sample_column_panels(problem.a, 16, of_entries).sharing(),
                    sample_column_panels(problem.a, 64, of_entries).sharing()};
  }
  return profile;
}

}  // namespace csrkit::gpu
