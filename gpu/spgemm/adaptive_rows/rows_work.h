// The state of one product of adaptive_rows between its phases.
#pragma once

#include <algorithm>

#include "gpu/spgemm/adaptive_rows/binning/bin_lists.h"
#include "gpu/spgemm/adaptive_rows/binning/short_rows.h"
#include "gpu/spgemm/adaptive_rows/numeric/hub_rows.h"
#include "gpu/spgemm/adaptive_rows/numeric/staged_rows.h"
#include "gpu/spgemm/adaptive_rows/workspace.h"

namespace csrkit::gpu {

template <class Value>
struct RowsWork {
  Workspace space;
  DeviceCsrView<void> a;
  BinLists lists;
  DeviceBuffer<std::byte> part_bytes;
  RowParts parts;
  HubRows hubs;
  Offset products = 0;
  std::uint32_t longest = 0;     // of rows in bit ranges, in products
  bool may_stage = false;        // sorted rows may be made when they are counted
  bool may_be_in_order = false;  // rows may be made in the order of A
  DeviceBuffer<std::byte> staged_bytes;
  StagedRows<Value> staged;
  bool short_rows_are_made = false;  // or on their way
  // As in HostTotals.
  int bytes_of_large_team = 0, bytes_of_block = 0, bytes_of_whole = 0;

  /// After the profile.
  void learn(const HostTotals& totals) {
    products = static_cast<Offset>(totals.products);
    longest = static_cast<std::uint32_t>(totals.longest);
    lists.to_count = lists_of<CountBin>(space.count_list, totals);
  }
  /// After counting.
  void learn_choice(const HostTotals& totals) {
    lists.to_make = lists_of<MakeBin>(space.make_list, totals);
    bytes_of_large_team = static_cast<int>(totals.bytes_of_large_team);
    bytes_of_block = static_cast<int>(totals.bytes_of_block);
    bytes_of_whole = static_cast<int>(totals.bytes_of_whole);
  }

  bool stages() const { return staged_bytes.size() > 0; }
  int room_in(MakeBin bin) const {
    return bin == MakeBin::bit_range_large_team ? bytes_of_large_team
           : bin == MakeBin::bit_range_block    ? bytes_of_block
           : bin == MakeBin::bit_range_whole    ? bytes_of_whole
                                                : room_of(bin);
  }
  BitRangeRows rows_in_bit_ranges() const {
    return {lists.counted(CountBin::bit_range_warp).count +
                lists.counted(CountBin::bit_range_block).count +
                lists.counted(CountBin::twin).count,
            longest, products};
  }
  bool has_twins() const {
    return lists.counted(CountBin::twin).count + lists.counted(CountBin::sorted_twin).count > 0;
  }

  /// `is_wide`: see BinRules.
  ShortRows counted_short_rows(bool is_wide) const {
    return {static_cast<int>(CountBin::merge_4), !is_wide, a.rows, space.count_totals,
            space.count_list};
  }
  ShortRows made_short_rows(bool is_wide) const {
    return {static_cast<int>(MakeBin::merge_4), !is_wide, a.rows, space.make_totals,
            space.make_list};
  }

  /// The products of rows that may be staged, at most, as their bins say; twins included.
  Offset products_to_stage() const {
    Offset alone = 0, with_twins = 0, rows_with_twins = 0, most = 2 * (kFewestToStage - 1);
    for (auto bin = static_cast<std::size_t>(CountBin::sort_128);
         bin <= static_cast<std::size_t>(CountBin::sort_4096); ++bin, most *= 2) {
      const Offset rows = lists.to_count[bin].count;
      const bool may_have_twins = BinRules::sorts_twins(static_cast<CountBin>(bin));
      (may_have_twins ? with_twins : alone) += rows * most;
      if (may_have_twins) rows_with_twins += rows;
    }
    Offset all = alone;
    if (rows_with_twins > 0) {
      const Offset twins = lists.counted(CountBin::sorted_twin).count;
      all += with_twins + with_twins / rows_with_twins * twins;
    }
    return std::min(all, products);
  }
  StagingFacts staging_facts(const HostTotals& totals) const {
    StagingFacts facts;
    facts.rows = a.rows;
    facts.twins = lists.counted(CountBin::sorted_twin).count;
    facts.products = products;
    facts.sorted = products_to_stage();
    facts.sampled = static_cast<Offset>(totals.sampled_products);
    facts.sampled_entries = static_cast<Offset>(totals.sampled_entries);
    return facts;
  }
};

}  // namespace csrkit::gpu
