#include "gpu/spmm/look/entries.h"

#include <functional>
#include <utility>

#include "gpu/spmm/look/around.h"

namespace csrkit::gpu::look {

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

}  // namespace csrkit::gpu::look
