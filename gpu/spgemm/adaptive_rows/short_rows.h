// The rows of C that a warp sorts, of all sizes in one launch: a launch per size leaves most of the
// device idle where a product is small, and takes longer than the rows.
#pragma once

#include <array>

#include "gpu/spgemm/adaptive_rows/profile.h"

namespace csrkit::gpu {

/// Lists of rows by their products, at most 256, 128, 64, 32 and 16; beside the third, rows of the
/// bins that merge, which have no more. Blocks in this order, so that long rows begin first.
struct ShortLists {
  static constexpr int kCount = 7;
  const Index* rows[kCount];
  Offset counts[kCount];
  std::uint32_t first_blocks[kCount + 1];
};

/// The bin of a list, counted from merge_4, and how many of its rows a block takes.
inline CSRKIT_HOST_DEVICE int bin_of_short_list(int list) {
  constexpr int kBins[ShortLists::kCount] = {6, 5, 4, 1, 0, 3, 2};
  return kBins[list];
}
inline CSRKIT_HOST_DEVICE int rows_of_short_block(int list) {
  constexpr int kRows[ShortLists::kCount] = {4, 8, 16, 16, 16, 32, 32};
  return kRows[list];
}

/// What a launch is about: the bins merge_4, merge_8, sort_16 and so on to sort_256, which stand
/// one after another. Where the host does not know yet how many rows they have, the kernel reads
/// that on the device.
struct ShortRows {
  static constexpr int kThreads = 128;
  int merge_4;                        // number of the first bin
  bool may_take_merged;               // rows that merge, of at most 64 products
  Index rows;                         // of C
  const BinTotals* totals = nullptr;  // of all bins, with `list`; null: `lists` is known
  const Index* list = nullptr;
  ShortLists lists = {};

  /// Rows that merge are sorted where they are few.
  static CSRKIT_HOST_DEVICE bool takes_merged(Offset merged, Index rows) {
    return 8 * merged < rows;
  }

  /// Enough blocks, whatever is in the bins.
  Offset most_blocks() const { return (Offset{rows} + 3) / 4 + ShortLists::kCount; }

  /// Takes these bins out of `of_bins`, and says how many blocks their rows fill. The launch knows
  /// its lists from here on.
  Offset take(std::array<RowList, kMostBins>& of_bins) {
    const auto first = static_cast<std::size_t>(merge_4);
    const bool with_merged =
        may_take_merged && takes_merged(of_bins[first].count + of_bins[first + 1].count, rows);
    Offset blocks = 0;
    for (int i = 0; i < ShortLists::kCount; ++i) {
      lists.first_blocks[i] = static_cast<std::uint32_t>(blocks);
      const int bin = bin_of_short_list(i);
      if (bin < 2 && !with_merged) continue;
      RowList& of_bin = of_bins[first + static_cast<std::size_t>(bin)];
      lists.rows[i] = of_bin.rows;
      lists.counts[i] = of_bin.count;
      blocks += (of_bin.count + rows_of_short_block(i) - 1) / rows_of_short_block(i);
      of_bin = {};
    }
    lists.first_blocks[ShortLists::kCount] = static_cast<std::uint32_t>(blocks);
    totals = nullptr;
    return blocks;
  }
};

}  // namespace csrkit::gpu
