// The rows of C that a warp sorts, of all sizes in one launch: a launch per size leaves most of the
// device idle where a product is small, and takes longer than the rows.
#pragma once

#include <array>

#include "gpu/spgemm/adaptive_rows/profile.h"

namespace csrkit::gpu {

/// Lists of rows by their products, at most 256, 128, 64, 32 and 16; beside the third, rows of the
/// bins that merge, which have no more. Blocks in this order, so that long rows begin first.
struct ShortRows {
  static constexpr int kThreads = 128;
  static constexpr int kLists = 7;
  RowList lists[kLists];
  std::uint32_t first_blocks[kLists + 1] = {};

  bool is_empty() const { return blocks() == 0; }
  std::uint32_t blocks() const { return first_blocks[kLists]; }

  /// Takes the lists out of `lists`, which begin with `merge_4`: merge_4, merge_8, sort_16 and so
  /// on. Rows that merge stay there unless `takes_merged`.
  ShortRows(std::array<RowList, kMostBins>& of_bins, int merge_4, bool takes_merged) {
    // Bins counted from merge_4, and lanes of a row.
    constexpr int kBins[kLists] = {6, 5, 4, 1, 0, 3, 2};
    constexpr int kLanes[kLists] = {32, 16, 8, 8, 8, 4, 4};
    for (int i = 0; i < kLists; ++i) {
      RowList& of_bin = of_bins[static_cast<std::size_t>(merge_4 + kBins[i])];
      if (kBins[i] >= 2 || takes_merged) {
        lists[i] = of_bin;
        of_bin = {};
      }
      const Offset rows_of_a_block = kThreads / kLanes[i];
      first_blocks[i + 1] =
          first_blocks[i] +
          static_cast<std::uint32_t>((lists[i].count + rows_of_a_block - 1) / rows_of_a_block);
    }
  }
};

}  // namespace csrkit::gpu
