#include "gpu/spgemm/adaptive_rows/rules/rules.h"

#include <algorithm>

#include "gpu/device/device_info.h"

namespace csrkit::gpu {

BinRules rules_for(const BinRules& changes, int value_bytes, Index rows, Offset a_nnz, Index cols) {
  BinRules rules = changes;
  const int shared_bytes = current_shared_bytes();
  rules.value_bytes = value_bytes;
  for (int* const bytes : {&rules.most_block_bytes, &rules.most_part_bytes}) {
    *bytes = std::min(*bytes, shared_bytes - kMostStaticBytes);
  }
  if (shared_bytes < kLargestTableBytes) {
    rules.most_hashed = 2048;
    rules.has_large_teams = false;
  }
  rules.prefers_merging = changes.prefers_merging && rows >= changes.fewest_merged_rows;
  rules.has_long_rows = a_nnz >= Offset{rows} * kLongRow;
  if (changes.hub_sources == 0) rules.hub_sources = kNoHubs;
  if (changes.most_alone == 0) rules.most_alone = kNeverCut;
  rules.is_wide = cols > kMostColumnsOfAWarp;
  return rules;
}

BinRules BinRules::for_counting(const BitRangeRows& of) const {
  BinRules rules = *this;
  rules.fewest_counted_by_warps = fewest_for_counting_warps(of);
  rules.waits_for_a_row = of.longest >= large_team_products(of) / shrink;
  return rules;
}

BinRules BinRules::for_making(const BitRangeRows& of) const {
  BinRules rules = *this;
  rules.most_of_a_team = team_bytes(of);
  rules.fewest_of_large_team = large_team_products(of);
  rules.most_of_a_wide_row = longest_wide_row(of);
  return rules;
}

bool BinRules::is_small(Offset rows, Offset cols, Offset a_nnz, Offset inner, Offset b_nnz) const {
  return prefers_one_pass && shrink == 1 && most_sorted_to_make >= kMostOfSmallRow &&
         rows < fewest_merged_rows && rows <= most_small_rows && cols <= kMostColumnsOfAWarp &&
         a_nnz > 0 && a_nnz <= kMostOfSmall && b_nnz > 0 && b_nnz <= kLengthOfSmall * inner;
}

bool BinRules::may_be_in_order(Offset rows, Offset cols, Offset a_nnz, Offset inner,
                               Offset b_nnz) const {
  const auto products = static_cast<double>(a_nnz) * static_cast<double>(b_nnz);
  const auto most = double{kMostOfTiny} * static_cast<double>(rows);  // tiny rows on average
  return rows >= fewest_in_order && shrink == 1 && cols >= Offset{kMostOfALonger} &&
         cols <= kMostColumnsOfAWarp && products <= most * static_cast<double>(inner);
}

bool BinRules::may_have_twins(Offset rows, Offset a_nnz) const {
  return prefers_twins && a_nnz >= rows * kLongRow;
}

bool BinRules::may_have_short_twins(Offset rows, Offset a_nnz) const {
  return prefers_twins && rows > 1 && a_nnz >= rows * kFewestForTwins && a_nnz < rows * kLongRow;
}

/// No row takes a warp longer than kWarps warps take for the whole product: somewhat more than a
/// device holds, as rows with twins take longer. Measured on an H200.
bool BinRules::are_even(const BitRangeRows& of) const {
  constexpr Offset kWarps = 2560;
  return of.rows >= Offset{fewest_for_small_teams} && Offset{of.longest} * kWarps <= of.products;
}

Offset BinRules::fewest_for_counting_warps(const BitRangeRows& of) const {
  constexpr std::uint32_t kMostOfAShortRow = 8192;
  return are_even(of) && of.longest <= kMostOfAShortRow ? 0 : fewest_counted_by_warps;
}

std::uint32_t BinRules::team_bytes(const BitRangeRows& of) const {
  return of.rows >= Offset{fewest_for_warps} || are_even(of) ? 0
         : of.rows >= Offset{fewest_for_small_teams}         ? kTeamBitRange48k
                                                             : kTeamBitRange96k;
}

/// A large team leaves little of a multiprocessor to others. So only rows that would take a block
/// longer than the rest of the product takes have one: a block takes 12 ns for a product in turns,
/// the rest 50 us and 0.01 ns for a product (an H100).
std::uint32_t BinRules::large_team_products(const BitRangeRows& of) const {
  constexpr Offset kFewest = 4096, kRestOfBlock = 1200;
  const Offset fewest = kFewest + of.products / kRestOfBlock;
  return has_large_teams && fewest < UINT32_MAX ? static_cast<std::uint32_t>(fewest) : UINT32_MAX;
}

/// A row that is much longer than others would be waited for: a warp takes 40 ns for each of its
/// products, with twins (an H100).
std::uint32_t BinRules::longest_wide_row(const BitRangeRows& of) const {
  constexpr Offset kTimesMean = 3;
  const Offset most = kTimesMean * of.products / (of.rows > 0 ? of.rows : 1);
  return most < Offset{most_of_a_wide_row} ? static_cast<std::uint32_t>(most) : most_of_a_wide_row;
}

bool BinRules::stages(const StagingFacts& of) const {
  return most_staged_bytes > 0 && most_sorted_to_make >= most_sorted_to_count && of.sampled > 0 &&
         2 * of.sampled >= kLeastProductsOfTwoEntries * of.sampled_entries &&
         8 * of.sorted >= of.products && 5 * of.twins <= Offset{3} * of.rows;
}

bool BinRules::makes_twins_again(Index rows, Offset twins, Offset products,
                                 std::uint32_t longest) const {
  return twins > 0 && 5 * twins >= Offset{3} * rows && rows - twins >= fewest_twin_warps &&
         products >= kFewestOfTwin * rows && longest < UINT32_MAX &&
         (Offset{longest} * rows + 1) / 2 <= products;
}

}  // namespace csrkit::gpu
