// The rows of every bin of adaptive_rows, and what they say of how a product was made.
#pragma once

#include <array>
#include <string>

#include "gpu/spgemm/adaptive_rows/binning/lists.h"

namespace csrkit::gpu {

/// The lists of all bins are contiguous, in the order of the bins. Bin 0 has no list.
template <class Bin>
std::array<RowList, kMostBins> lists_of(const Index* list, const HostTotals& totals) {
  std::array<RowList, kMostBins> lists;
  for (int bin = 1; bin < static_cast<int>(Bin::count); ++bin) {
    lists[static_cast<std::size_t>(bin)] = {list, totals.rows[bin]};
    list += totals.rows[bin];
  }
  return lists;
}

/// The rows of a product, by how they are counted and by how they are made.
struct BinLists {
  std::array<RowList, kMostBins> to_count = {}, to_make = {};

  const RowList& counted(CountBin bin) const { return to_count[static_cast<std::size_t>(bin)]; }
  const RowList& made(MakeBin bin) const { return to_make[static_cast<std::size_t>(bin)]; }

  /// Leaves out the rows that are made in order. Others are merged or sorted as they are counted.
  void leave_out_rows_in_order();
};

/// How the rows of a C of `rows` rows are made, in numbers. `stages`: some were made while they
/// were counted.
std::string describe(const BinLists& lists, Index rows, bool stages);

}  // namespace csrkit::gpu
