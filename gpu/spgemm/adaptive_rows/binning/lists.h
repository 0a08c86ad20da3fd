// The lists of rows by bin, and of the parts of rows that are cut.
#pragma once

#include "gpu/spgemm/adaptive_rows/binning/told.h"
#include "gpu/spgemm/adaptive_rows/profile/profile.h"

namespace csrkit::gpu {

/// Some rows, all in one bin.
struct RowList {
  const Index* rows = nullptr;
  Offset count = 0;
};

/// The rows of sort_16, where a thread makes each. Those of at most kFewProducts come first; how
/// many they are is known on the device.
struct TinyRows {
  RowList list;
  const std::uint32_t* few = nullptr;
};

/// Writes the rows of bin 1, then those of bin 2, and so on; bin 0 has no list. Neighbours stay
/// neighbours, but the order of blocks of rows differs from run to run; no result depends on it.
/// First in their bins come rows of more than a fourth of the products of the longest row in a bit
/// range (in of_profile), if that is long; rows of at most kFewProducts in `sort_16`, the bin of
/// that name; and in sort_64 to sort_256 rows of at most six eighths of the bin's products.
/// totals->placed_first says how many. Also tells the host the totals.
/// `may_be_in_order`: nothing is listed if `totals` say that all rows are made in order.
void list_bins(Index rows, const RowProfile& profile, const BinTotals* of_profile, int sort_16,
               BinTotals* totals, Index* list, const Told<HostTotals>::Place& host,
               bool may_be_in_order, cudaStream_t stream);

/// The parts of the rows of CountBin::parts. The parts of a row are contiguous.
struct RowParts {
  Offset count = 0;
  Index* rows = nullptr;                       // the row of each part
  std::uint32_t* numbers = nullptr;            // its number among the row's parts
  std::uint32_t* counts = nullptr;             // entries of C in the part
  std::uint32_t* products = nullptr;           // 2^32 - 1: so many or more
  std::uint32_t* starts = nullptr;             // entries of C in the row's earlier parts
  int most_words = 0;                          // of any part
  static constexpr std::uint64_t kBytes = 20;  // each
};

/// The columns of a part, in words of 32.
struct PartOfRow {
  Index row;
  Index first_word;
  int words;
};

#ifdef __CUDACC__
inline __device__ PartOfRow part_of_row(const RowProfile& profile, const BinRules& rules,
                                        const RowParts& parts, Offset number) {
  const Index row = parts.rows[number];
  const Index words = profile.words[row];
  const auto width =
      static_cast<int>(rules.part_words(profile.products[row], static_cast<std::uint32_t>(words)));
  const int skipped = static_cast<int>(parts.numbers[number]) * width;
  return {row, profile.first_word[row] + skipped, min(words - skipped, width)};
}
#endif

/// Fills parts.rows and parts.numbers; parts.count must be the totals' number of parts. Rows come
/// in any order.
void list_parts(const RowList& list, const RowProfile& profile, const BinRules& rules,
                const RowParts& parts, BinTotals* totals, cudaStream_t stream);

/// From the counts of parts: where each starts in its row, and the counts of the rows.
void sum_parts(const RowParts& parts, const RowProfile& profile, cudaStream_t stream);

}  // namespace csrkit::gpu
