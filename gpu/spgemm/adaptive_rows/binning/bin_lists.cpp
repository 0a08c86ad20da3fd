#include "gpu/spgemm/adaptive_rows/binning/bin_lists.h"

#include <algorithm>

namespace csrkit::gpu {

namespace {

/// Staged rows are in no list of rows to make, like empty rows, rows in parts and hubs; their twins
/// are in that of twins. An empty row is not counted, like a copy of one row of B.
Offset rows_staged(const BinLists& lists, Index rows) {
  Offset not_counted = rows, not_listed = rows;
  for (const RowList& list : lists.to_count) not_counted -= list.count;
  for (const RowList& list : lists.to_make) not_listed -= list.count;
  return not_listed - (not_counted - lists.made(MakeBin::copy).count) -
         lists.counted(CountBin::parts).count - lists.counted(CountBin::hubs).count;
}

Offset rows_made(const BinLists& lists, MakeBin first, MakeBin end) {
  Offset rows = 0;
  for (auto bin = static_cast<std::size_t>(first); bin < static_cast<std::size_t>(end); ++bin) {
    rows += lists.to_make[bin].count;
  }
  return rows;
}

std::string in_brackets(Offset rows, const char* what) {
  return rows > 0 ? " (" + std::to_string(rows) + what + ")" : std::string();
}

}  // namespace

void BinLists::leave_out_rows_in_order() {
  constexpr auto kFirst = static_cast<std::size_t>(CountBin::merge_4);
  constexpr auto kLast = static_cast<std::size_t>(CountBin::sort_64);
  constexpr auto kFirstToMake = static_cast<std::size_t>(MakeBin::merge_4);
  static_assert(kLast - kFirst == static_cast<std::size_t>(MakeBin::sort_64) - kFirstToMake);
  to_count[static_cast<std::size_t>(CountBin::sort_16)] = {};
  for (std::size_t bin = kFirst; bin <= kLast; ++bin) {
    to_make[kFirstToMake + bin - kFirst] = to_count[bin];
  }
}

std::string describe(const BinLists& lists, Index rows, bool stages) {
  const Offset all_twins = lists.made(MakeBin::twin).count;
  // Twins that were counted in bit ranges but are sorted (has_few_repeats) are listed with ranges.
  const Offset sorted_twins = std::min(all_twins, lists.counted(CountBin::sorted_twin).count);
  const Offset staged = stages ? rows_staged(lists, rows) : 0;
  const Offset sorted =
      staged + sorted_twins + rows_made(lists, MakeBin::sort_16, MakeBin::hash_256);
  const Offset in_bit_ranges =
      rows_made(lists, MakeBin::bit_range_3k, MakeBin::count) - sorted_twins;
  constexpr const char* kTwins = " of them twins";
  return "rows: " + std::to_string(lists.made(MakeBin::copy).count) + " copied, " +
         std::to_string(rows_made(lists, MakeBin::merge_4, MakeBin::sort_16)) + " merged, " +
         std::to_string(sorted) + " sorted" + in_brackets(sorted_twins, kTwins) +
         in_brackets(staged, " while they were counted") + ", " +
         std::to_string(rows_made(lists, MakeBin::hash_256, MakeBin::bit_range_3k)) + " hashed, " +
         std::to_string(in_bit_ranges) + " in bit ranges" +
         in_brackets(all_twins - sorted_twins, kTwins) + ", " +
         std::to_string(lists.counted(CountBin::parts).count) + " in parts, " +
         std::to_string(lists.counted(CountBin::hubs).count) + " hubs";
}

}  // namespace csrkit::gpu
