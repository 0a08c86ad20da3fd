// Rows of C that a warp sorts, of all sizes in one launch. In small products a launch per size
// would leave most of the device idle and take longer than its rows.
#pragma once

#include <array>

#include "gpu/spgemm/adaptive_rows/binning/lists.h"

namespace csrkit::gpu {

/// Lists of rows of at most 256, 128, 64, 32 and 16 products; the bins that merge, with at most 64
/// products, come with the third. Blocks run in this order, so that long rows begin first.
struct ShortLists {
  static constexpr int kCount = 7;
  static constexpr int kToStage = 2;  // the first lists, of rows of kFewestToStage products or more
  const Index* rows[kCount];
  Offset counts[kCount];
  std::uint32_t first_blocks[kCount + 1];
};

/// A list's bin, counted from merge_4, and how many of its rows a block takes.
inline CSRKIT_HOST_DEVICE int bin_of_short_list(int list) {
  constexpr int kBins[ShortLists::kCount] = {6, 5, 4, 1, 0, 3, 2};
  return kBins[list];
}
inline CSRKIT_HOST_DEVICE int rows_of_short_block(int list) {
  constexpr int kRows[ShortLists::kCount] = {4, 8, 16, 16, 16, 32, 32};
  return kRows[list];
}

inline constexpr int kSort16 = 2;  // counted from merge_4

/// The rows of one launch: those of the consecutive bins merge_4, merge_8, sort_16 ... sort_256.
/// Where the host does not know their sizes yet, the kernel reads them on the device.
struct ShortRows {
  static constexpr int kThreads = 128;
  int merge_4;                        // the number of the first bin
  bool may_take_merged;               // may sort rows of bins that merge, of at most 64 products
  Index rows;                         // of C
  const BinTotals* totals = nullptr;  // totals of all bins, with `list`; null: `lists` is filled
  const Index* list = nullptr;
  ShortLists lists = {};

  /// Rows of bins that merge are sorted if they are few.
  static CSRKIT_HOST_DEVICE bool takes_merged(Offset merged, Index rows) {
    return 8 * merged < rows;
  }

  /// An upper bound of the blocks, whatever the bins hold.
  Offset most_blocks() const { return (Offset{rows} + 3) / 4 + ShortLists::kCount; }

  /// Moves these bins out of `of_bins` into `lists`, and returns how many blocks their rows fill.
  /// sort_16 stays there if it has `fewest_tiny` rows or more.
  Offset take(std::array<RowList, kMostBins>& of_bins, Offset fewest_tiny) {
    const auto first = static_cast<std::size_t>(merge_4);
    const bool with_merged =
        may_take_merged && takes_merged(of_bins[first].count + of_bins[first + 1].count, rows);
    Offset blocks = 0;
    for (int i = 0; i < ShortLists::kCount; ++i) {
      lists.first_blocks[i] = static_cast<std::uint32_t>(blocks);
      const int bin = bin_of_short_list(i);
      if (bin < 2 && !with_merged) continue;
      RowList& of_bin = of_bins[first + static_cast<std::size_t>(bin)];
      if (bin == kSort16 && of_bin.count >= fewest_tiny) continue;
      lists.rows[i] = of_bin.rows;
      lists.counts[i] = of_bin.count;
      blocks += (of_bin.count + rows_of_short_block(i) - 1) / rows_of_short_block(i);
      of_bin = {};
    }
    lists.first_blocks[ShortLists::kCount] = static_cast<std::uint32_t>(blocks);
    totals = nullptr;
    return blocks;
  }

  /// Those of the lists [first, last), which must be filled.
  ShortRows only(int first, int last) const {
    ShortRows some = *this;
    std::uint32_t blocks = 0;
    for (int i = 0; i < ShortLists::kCount; ++i) {
      const std::uint32_t of_list = lists.first_blocks[i + 1] - lists.first_blocks[i];
      const bool is_taken = i >= first && i < last;
      if (!is_taken) some.lists.counts[i] = 0;
      some.lists.first_blocks[i] = blocks;
      blocks += is_taken ? of_list : 0;
    }
    some.lists.first_blocks[ShortLists::kCount] = blocks;
    return some;
  }
  unsigned blocks() const { return lists.first_blocks[ShortLists::kCount]; }
};

}  // namespace csrkit::gpu
