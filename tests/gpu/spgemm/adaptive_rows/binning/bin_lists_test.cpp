// What adaptive_rows says of how rows were made. No GPU is needed.

#include "gpu/spgemm/adaptive_rows/binning/bin_lists.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

using gpu::BinLists;
using gpu::CountBin;
using gpu::MakeBin;

template <class Bin>
void put(std::array<gpu::RowList, gpu::kMostBins>& lists, Bin bin, Offset rows) {
  lists[static_cast<std::size_t>(bin)].count = rows;
}

/// 1,000 rows: 10 are empty, 20 copies of one row of B, 5 in parts, 2 hubs.
BinLists some_lists() {
  BinLists lists;
  put(lists.to_count, CountBin::merge_4, 100);
  put(lists.to_count, CountBin::sort_64, 300);
  put(lists.to_count, CountBin::sort_256, 400);
  put(lists.to_count, CountBin::sorted_twin, 60);
  put(lists.to_count, CountBin::bit_range_warp, 70);
  put(lists.to_count, CountBin::twin, 33);
  put(lists.to_count, CountBin::parts, 5);
  put(lists.to_count, CountBin::hubs, 2);
  put(lists.to_make, MakeBin::copy, 20);
  put(lists.to_make, MakeBin::merge_4, 100);
  put(lists.to_make, MakeBin::sort_64, 300);
  put(lists.to_make, MakeBin::sort_256, 400);
  put(lists.to_make, MakeBin::bit_range_3k, 70);
  put(lists.to_make, MakeBin::twin, 93);
  return lists;
}

}  // namespace

TEST(SpgemmBinLists, SayHowEveryRowIsMade) {
  EXPECT_EQ(
      describe(some_lists(), 1'000, false),
      "rows: 20 copied, 100 merged, 760 sorted (60 of them twins), 0 hashed, 103 in bit ranges "
      "(33 of them twins), 5 in parts, 2 hubs");
}

TEST(SpgemmBinLists, CountStagedRowsAmongTheSorted) {
  BinLists lists = some_lists();
  put(lists.to_make, MakeBin::sort_256, 150);  // the other 250 were made while they were counted
  EXPECT_EQ(describe(lists, 1'000, true),
            "rows: 20 copied, 100 merged, 760 sorted (60 of them twins) (250 while they were "
            "counted), 0 hashed, 103 in bit ranges (33 of them twins), 5 in parts, 2 hubs");
}

}  // namespace csrkit
