// The rules of adaptive_rows: how each row of C is counted and made.
#pragma once

#include "gpu/spgemm/adaptive_rows/rules/bins.h"
#include "gpu/spgemm/adaptive_rows/rules/limits.h"
#include "gpu/spgemm/adaptive_rows/rules/ways_to_sum.h"

namespace csrkit::gpu {

/// What decides whether rows are staged.
struct StagingFacts {
  Offset rows = 0, twins = 0;               // of A; those that are sorted with another
  Offset products = 0, sorted = 0;          // of all rows; of rows that may be staged, at most
  Offset sampled = 0, sampled_entries = 0;  // products and entries of some rows of C
};

/// Totals of a product's rows in bit ranges.
struct BitRangeRows {
  Offset rows = 0;
  std::uint32_t longest = 0;  // products of the longest row
  Offset products = 0;        // of the whole product
};

/// The rules with their limits.
struct BinRules : BinLimits {
  // Of a product, on the host.

  /// These rules for counting and for making the rows of a product.
  BinRules for_counting(const BitRangeRows& of) const;
  BinRules for_making(const BitRangeRows& of) const;
  /// Whether a product is small enough for one pass. All its rows must be ones that a warp would
  /// sort otherwise, so that the bits are the same.
  bool is_small(Offset rows, Offset cols, Offset a_nnz, Offset inner, Offset b_nnz) const;
  /// Whether a product may be so large, and its rows so short, that makes_in_order is asked. C then
  /// has as many columns as a row in order or beside them has products, so that room for every
  /// product is no more than the bound of C's entries.
  bool may_be_in_order(Offset rows, Offset cols, Offset a_nnz, Offset inner, Offset b_nnz) const;
  bool may_have_twins(Offset rows, Offset a_nnz) const;
  /// The same, if there are twins side by side.
  bool may_have_short_twins(Offset rows, Offset a_nnz) const;
  /// Whether rows are many, and none would be waited for.
  bool are_even(const BitRangeRows& of) const;
  /// fewest_counted_by_warps, but 0 where rows are even and short.
  Offset fewest_for_counting_warps(const BitRangeRows& of) const;
  /// The values of most_of_a_team, fewest_of_large_team and most_of_a_wide_row.
  std::uint32_t team_bytes(const BitRangeRows& of) const;
  std::uint32_t large_team_products(const BitRangeRows& of) const;
  std::uint32_t longest_wide_row(const BitRangeRows& of) const;
  /// Whether rows are staged: their columns come often, they are an eighth of the work or more, and
  /// they are not mostly twins, of which one is counted but all would move. Rows must be made by
  /// sorting where they are counted so, or sums would depend on which rows find room.
  bool stages(const StagingFacts& of) const;
  /// Whether new values are made row by row although there is room for a list; see kFewestOfTwin.
  /// `longest`: the products of the longest row, in 32 bits as in RowFacts, so its product with
  /// `rows` fits an Offset.
  bool makes_twins_again(Index rows, Offset twins, Offset products, std::uint32_t longest) const;

  /// Whether rows are made in the order of A, from how many are in each CountBin. `longer`: how
  /// many are not made so. A thread would walk through rows of A with hundreds of entries of which
  /// nearly all meet empty rows of B, and others would wait for it.
  static CSRKIT_HOST_DEVICE bool makes_in_order(const std::uint32_t* in_bins,
                                                const HubTotals& long_rows, Offset rows,
                                                unsigned long long products, Offset& longer) {
    const Offset tiny = in_bins[static_cast<int>(CountBin::sort_16)];
    Offset too_long = 0;
    longer = 0;
    for (int bin = 1; bin < static_cast<int>(CountBin::count); ++bin) {
      if (bin == static_cast<int>(CountBin::sort_16)) continue;
      (bin <= static_cast<int>(CountBin::sort_64) ? longer : too_long) += Offset{in_bins[bin]};
    }
    return too_long == 0 && longer * kRowsOfALonger <= rows && 3 * tiny >= 2 * rows &&
           products <= UINT32_MAX && !long_rows.has_rows();
  }

  // Of a row.

  static CSRKIT_HOST_DEVICE std::uint32_t words_of_block(const RowFacts& row) {
    return row.products > kMostSorted ? kMostBlockBitRangeWords : kBlockBitRangeWords;
  }
  CSRKIT_HOST_DEVICE bool suits_bit_range(const RowFacts& row) const {
    const std::uint32_t needed = has_long_rows ? row.words / kWordsPerProduct : row.words;
    return prefers_bit_ranges && needed <= row.products && row.words <= words_of_block(row) &&
           row.products <= kMostOfABlock;
  }
  /// Whether a warp adds the row's products up by column faster than it sorts them; see
  /// kProductsPerDenseWord.
  CSRKIT_HOST_DEVICE bool is_dense(const RowFacts& row) const {
    return suits_bit_range(row) && row.products > fewest_dense / shrink &&
           (has_long_rows || row.words <= row.products / products_per_dense_word);
  }
  CSRKIT_HOST_DEVICE bool is_hub(const RowFacts& row) const {
    return row.products < UINT32_MAX &&
           may_be_hub(row.sources, row.products, hub_sources, most_per_hub_source);
  }

  /// Whether the row must be cut so that it does not finish last: it is slower than most_alone, and
  /// its sums may not fit a team of 96 KiB, which is faster. Three quarters of its possible entries
  /// are assumed.
  CSRKIT_HOST_DEVICE bool is_too_long(const RowFacts& row) const {
    if (row.products <= kFewestCutProducts / shrink || row.products == UINT32_MAX ||
        row_nanoseconds(row.sources, row.products) <= most_alone) {
      return false;
    }
    const std::uint64_t cols = std::uint64_t{row.words} << kWordLog2;
    const std::uint64_t entries = (cols < row.products ? cols : row.products) * 3 / 4;
    return bytes_of_sums(row.words, entries, kWarpsOfATeam, value_bytes) >
           kTeamBitRange96k / shrink;
  }
  /// Where a team shares sums: whether every column of the range gets a sum, which saves looking up
  /// places. So it is if C has half of the columns or more.
  static CSRKIT_HOST_DEVICE bool sums_every_column(std::uint32_t words, std::uint32_t entries) {
    return (std::uint64_t{words} << kWordLog2) <= 2 * std::uint64_t{entries};
  }
  /// Whether the rest of the product is done before four warps, or a block, have made the row.
  CSRKIT_HOST_DEVICE bool is_waited_for(const RowFacts& row) const {
    return row.products >= fewest_of_large_team / shrink;
  }
  /// Bytes of shared memory of a team of four warps that makes the row.
  CSRKIT_HOST_DEVICE std::uint64_t bytes_of_team(const RowFacts& row, std::uint32_t entries) const {
    if (!shared_sums.suit(row.products, row.sources)) {
      return bytes_of_sums(row.words, entries, kWarpsOfATeam, value_bytes);
    }
    const bool every_column = sums_every_column(row.words, entries);
    return bytes_of_sums(row.words, every_column ? std::uint64_t{row.words} << kWordLog2 : entries,
                         1, value_bytes);
  }

  /// The most bytes of a large team. Kernels get it from here: what they do must agree with the
  /// bins.
  CSRKIT_HOST_DEVICE std::uint32_t most_bytes_of_large_team() const {
    return kLargeTeamBitRange / shrink;
  }
  /// The warps of a large team for the row. Sixteen take about a quarter of the time of four: all
  /// wait for their loads.
  CSRKIT_HOST_DEVICE int large_team_warps(const RowFacts& row, std::uint32_t entries) const {
    return warps_of_large_team(row.words, entries, value_bytes, most_bytes_of_large_team());
  }
  /// Bytes of shared memory of a large team that makes the row.
  CSRKIT_HOST_DEVICE std::uint64_t bytes_of_large_team(const RowFacts& row,
                                                       std::uint32_t entries) const {
    const int warps = large_team_warps(row, entries);
    return warps > kWarpsOfATeam ? bytes_of_sums(row.words, entries, warps, value_bytes)
                                 : bytes_of_team(row, entries);
  }

  /// The most bytes that a team for the row may have.
  CSRKIT_HOST_DEVICE std::uint32_t most_bytes_of_team(const RowFacts& row) const {
    const bool shares = shared_sums.suit(row.products, row.sources);
    if (!shares && Offset{row.products} >= row.sources * kLongSources) {
      return most_of_a_team < kTeamBitRange48k ? most_of_a_team : kTeamBitRange48k;
    }
    return is_waited_for(row) ? kLargeTeamBitRange : most_of_a_team;
  }

  /// Whether counting keeps the row's bits for making. With few products, finding them again is as
  /// fast as writing and reading them.
  CSRKIT_HOST_DEVICE bool keeps_bits(const RowFacts& row) const {
    return keeps_any_bits && row.words <= row.products / kProductsPerKeptWord;
  }

  /// The most pairs (word number, bits) that are kept of a row where keeps_bits is false, and one
  /// more.
  static CSRKIT_HOST_DEVICE std::uint32_t most_pairs(std::uint32_t products) {
    return products / kProductsPerKeptPair;
  }
  /// Words of memory that counting reserves for a row: its bits, or the number of pairs and the
  /// pairs.
  CSRKIT_HOST_DEVICE std::uint32_t kept_words(const RowFacts& row) const {
    if (keeps_bits(row)) return row.words;
    const std::uint32_t pairs = most_pairs(row.products);
    return keeps_any_bits && keeps_pairs && pairs > 1 ? 2 * pairs - 1 : 0;
  }

  /// The width in words of the parts of a row that is cut.
  CSRKIT_HOST_DEVICE std::uint32_t part_words(std::uint32_t products, std::uint32_t words) const {
    const bool is_narrow = words <= kBlockBitRangeWords / shrink;
    const std::uint32_t of_part = is_narrow ? kSmallPartProducts : kPartProducts;
    const std::uint32_t by_products = products / at_least_1(of_part / shrink) + 1;
    const std::uint32_t most = at_least_1(kPartWords / shrink);
    const std::uint32_t fewest = at_least_1(kFewestPartWords / shrink);
    const std::uint32_t width = (words - 1) / by_products + 1;
    return width > most ? most : width < fewest ? fewest : width;
  }
  /// The number of parts of a row in CountBin::parts.
  CSRKIT_HOST_DEVICE std::uint32_t parts_of(const RowFacts& row) const {
    return (row.words - 1) / part_words(row.products, row.words) + 1;
  }
  static CSRKIT_HOST_DEVICE std::uint32_t at_least_1(std::uint32_t number) {
    return number > 0 ? number : 1;
  }

  /// Whether a row of so many products merges if it is like its neighbour.
  CSRKIT_HOST_DEVICE bool may_merge(unsigned long long products) const {
    return prefers_merging && products >= kFewestMerged / shrink &&
           products <= kMostMerged / shrink;
  }
  CSRKIT_HOST_DEVICE bool merges(const RowFacts& row) const {
    return row.is_like_neighbour && row.sources <= 8 && may_merge(row.products);
  }
  /// Whether a row is so small that count_bin needs no other fact to know that it is done or in
  /// sort_16.
  CSRKIT_HOST_DEVICE bool is_tiny(const RowFacts& row) const {
    return row.products <= kMostOfTiny && row.sources <= Offset{kMostOfTiny} && shrink == 1 &&
           !is_wide && most_sorted_to_count >= kMostOfTiny && hub_sources >= Offset{kMostOfTiny};
  }

  /// Whether the profile must find the first and last column of a row of so many products: for bit
  /// ranges, and for sorting where B is wide. It costs two reads of B per entry of A.
  CSRKIT_HOST_DEVICE bool needs_range(unsigned long long products) const {
    return products > kMostSortedByWarp / shrink || most_sorted_to_count < kMostSortedByWarp ||
           is_wide;
  }

  /// The number of the sorting bin (0 for sort_16) that holds the row, or -1. A column within the
  /// row and a product's number must fit 32 bits together.
  static CSRKIT_HOST_DEVICE int sort_size(const RowFacts& row, std::uint32_t most) {
    if (row.products > most) return -1;
    int size = 0;
    while (row.products > 16u << size) ++size;
    return row.words <= 1u << (27 - 4 - size) ? size : -1;
  }

  CSRKIT_HOST_DEVICE CountBin count_bin(const RowFacts& row) const {
    const std::uint32_t length = row.products;
    if (length == 0 || row.sources == 1) return CountBin::done;
    if (is_tiny(row)) return CountBin::sort_16;
    if (is_hub(row)) return CountBin::hubs;
    if (is_too_long(row)) return CountBin::parts;
    if (merges(row)) return row.sources <= 4 ? CountBin::merge_4 : CountBin::merge_8;
    const int size = sort_size(row, most_sorted_to_count / shrink);
    const bool sorts_in_warp = size >= 0 && length <= kMostSortedByWarp && !is_dense(row);
    if (sorts_in_warp || (size >= 0 && !suits_bit_range(row))) {
      return static_cast<CountBin>(static_cast<int>(CountBin::sort_16) + size);
    }
    if (length <= 32 / shrink) return CountBin::hash_64;
    if (length <= 128 / shrink && row.words > 32) return CountBin::hash_256;
    if (suits_bit_range(row)) {
      return row.words <= kWarpBitRangeWords && length <= most_of_a_warp / shrink
                 ? CountBin::bit_range_warp
                 : CountBin::bit_range_block;
    }
    if (length <= 320 / shrink) return CountBin::hash_512;
    if (length <= 640 / shrink) return CountBin::hash_1024;
    if (length <= 2560 / shrink) return CountBin::hash_4096;
    if (length <= most_hashed / shrink) return CountBin::hash_16384;
    return CountBin::parts;
  }

  /// Whether the products of a row in this bin are sorted once for all of its twins: a warp or a
  /// block makes it, and a lane has few enough to keep B's values in registers.
  static CSRKIT_HOST_DEVICE bool sorts_twins(CountBin bin) {
    return bin >= CountBin::sort_256 && bin <= CountBin::sort_4096;
  }
  static CSRKIT_HOST_DEVICE bool sorts_twins(MakeBin bin) {
    return bin >= MakeBin::sort_256 && bin <= MakeBin::sort_4096;
  }

  /// Whether a warp makes a row of `entries` together with its twins: the sums of kMostTwins / 2
  /// rows must fit, and rows of B must not be short. All twins get the same answer.
  CSRKIT_HOST_DEVICE bool makes_twins(const RowFacts& row, std::uint32_t entries,
                                      std::uint32_t twins) const {
    return twins > 0 && most_of_a_team == 0 && row.products <= most_of_a_warp / shrink &&
           Offset{row.products} >= row.sources * kShortSources &&
           (bytes_of_twins(row, entries, kMostTwins / 2) <= kTwinRange14k / shrink ||
            fits_wide(row, entries, kMostTwins / 2));
  }
  /// Bytes of shared memory for `at_once` twins made at a time.
  CSRKIT_HOST_DEVICE std::uint64_t bytes_of_twins(const RowFacts& row, std::uint32_t entries,
                                                  int at_once) const {
    return bytes_of_sums(row.words, entries, at_once, value_bytes);
  }

  /// Whether a warp can make `at_once` twins if it keeps only words that have a bit: at most as
  /// many as entries. Groups of 32 words say which.
  CSRKIT_HOST_DEVICE bool fits_wide(const RowFacts& row, std::uint32_t entries, int at_once) const {
    const std::uint32_t words = entries < row.words ? entries : row.words;
    const std::uint32_t groups = (row.words + 31) / 32;
    const std::uint64_t bytes =
        std::uint64_t{groups + words} * kTableEntryBytes +
        std::uint64_t{entries} * static_cast<unsigned>(at_once * value_bytes);
    return row.products <= most_of_a_wide_row / shrink && bytes <= kWideBitRange / shrink;
  }

  /// Whether few columns come twice: then sorting is no more work than sums in a range, which takes
  /// more shared memory.
  static CSRKIT_HOST_DEVICE bool has_few_repeats(const RowFacts& row, std::uint32_t entries) {
    return Offset{entries} * 8 >= Offset{row.products} * 7;
  }

  /// Bytes of shared memory of a block that makes the row. If its sums do not fit the most that it
  /// may have, they are in C.
  CSRKIT_HOST_DEVICE std::uint64_t bytes_of_block(const RowFacts& row, std::uint32_t entries,
                                                  int threads) const {
    const auto of_value = static_cast<std::uint32_t>(value_bytes);
    const auto most = static_cast<std::uint64_t>(most_block_bytes);
    const BlockSums way = block_sums(row, entries, threads, of_value, most);
    if (way == BlockSums::claims) return bytes_of_claims(row, entries, of_value);
    const bool bids = way == BlockSums::turns && packs_in_block(row, threads);
    const std::uint64_t in_c = std::uint64_t{row.words} * kTableEntryBytes + (bids ? kBidBytes : 0);
    const std::uint64_t bytes = in_c + std::uint64_t{entries} * of_value;
    return bytes <= most ? bytes : in_c;
  }
  /// Whether a row that a block makes is in MakeBin::bit_range_block.
  CSRKIT_HOST_DEVICE bool fits_block(const RowFacts& row, std::uint32_t entries) const {
    const std::uint64_t sums = std::uint64_t{entries} * static_cast<unsigned>(value_bytes);
    return bytes_of_block(row, entries, kThreadsOfBlock) <= kBlockBitRangeBytes / shrink &&
           sums <= kBlockBitRangeBytes / shrink;
  }

  /// `entries`: the row's counted entries; `counted`: the bin that counted them; `twins`: how many
  /// other rows of A were found to have its columns.
  CSRKIT_HOST_DEVICE MakeBin make_bin(const RowFacts& row, std::uint32_t entries, CountBin counted,
                                      std::uint32_t twins) const {
    if (entries == 0 || counted >= CountBin::parts) return MakeBin::done;
    if (row.sources == 1) return MakeBin::copy;
    const bool was_merged = counted == CountBin::merge_4 || counted == CountBin::merge_8;
    if (was_merged && (value_bytes == 4 || row.products <= kMostMergedDoubles)) {
      return counted == CountBin::merge_4 ? MakeBin::merge_4 : MakeBin::merge_8;
    }
    const int size = sort_size(row, most_sorted_to_make / shrink);
    const bool sorts_in_warp = size >= 0 && row.products <= kMostSortedByWarp && !is_dense(row);
    const bool is_scattered =
        has_long_rows && row.words > row.products && has_few_repeats(row, entries);
    if (sorts_in_warp || (size >= 0 && (is_scattered || !suits_bit_range(row)))) {
      return sort_bin(size);
    }
    return suits_bit_range(row) ? bit_range_bin(row, entries, size, twins) : hash_bin(entries);
  }

 private:
  static CSRKIT_HOST_DEVICE MakeBin sort_bin(int size) {
    return static_cast<MakeBin>(static_cast<int>(MakeBin::sort_16) + size);
  }
  CSRKIT_HOST_DEVICE MakeBin hash_bin(std::uint32_t entries) const {
    if (entries <= 128 / shrink) return MakeBin::hash_256;
    if (entries <= 512 / shrink) return MakeBin::hash_1024;
    if (entries <= 2048 / shrink) return MakeBin::hash_4096;
    return MakeBin::hash_16384;
  }
  /// The bin of a row that suits a bit range; `size`: as sort_size has it.
  CSRKIT_HOST_DEVICE MakeBin bit_range_bin(const RowFacts& row, std::uint32_t entries, int size,
                                           std::uint32_t twins) const {
    if (is_waited_for(row) && large_team_warps(row, entries) > kWarpsOfATeam) {
      return MakeBin::bit_range_large_team;
    }
    if (most_of_a_team > 0 && row.products > kMostSortedByWarp / shrink) {
      const std::uint64_t team = bytes_of_team(row, entries);
      // A team of more than 48 KiB leaves room for few others on its multiprocessor.
      const bool is_too_large =
          size >= 0 && team > kTeamBitRange48k / shrink && has_few_repeats(row, entries);
      if (team <= most_bytes_of_team(row) / shrink && !is_too_large) return team_bin(team);
      if (size >= 0) return sort_bin(size);
    } else if (row.products <= most_of_a_warp / shrink) {
      const MakeBin bin = warp_bin(row, entries, twins);
      if (bin != MakeBin::count) return bin;
    }
    // Where other rows have warps; with more memory for each, too few are at work.
    if (most_of_a_team == 0 && shared_sums.suit(row.products, row.sources) &&
        bytes_of_team(row, entries) <= kTeamBitRange24k / shrink) {
      return MakeBin::bit_range_team_24k;
    }
    return fits_block(row, entries) ? MakeBin::bit_range_block : MakeBin::bit_range_whole;
  }
  CSRKIT_HOST_DEVICE MakeBin team_bin(std::uint64_t bytes) const {
    return bytes <= kTeamBitRange24k / shrink   ? MakeBin::bit_range_team_24k
           : bytes <= kTeamBitRange48k / shrink ? MakeBin::bit_range_team_48k
           : bytes <= kTeamBitRange96k / shrink ? MakeBin::bit_range_team_96k
                                                : MakeBin::bit_range_large_team;
  }
  /// The bin of a row that one warp makes, alone or with twins; MakeBin::count if it has no room.
  CSRKIT_HOST_DEVICE MakeBin warp_bin(const RowFacts& row, std::uint32_t entries,
                                      std::uint32_t twins) const {
    const bool with_twins = makes_twins(row, entries, twins);
    if (with_twins) {
      std::uint64_t of_all = bytes_of_twins(row, entries, kMostTwins);
      if (twins < kMostTwins / 2 || of_all > kTwinRange14k / shrink) {
        of_all = bytes_of_twins(row, entries, kMostTwins / 2);
      }
      if (of_all <= kTwinRange8k / shrink) return MakeBin::bit_range_twins_8k;
      if (of_all <= kTwinRange11k / shrink) return MakeBin::bit_range_twins_11k;
      if (of_all <= kTwinRange14k / shrink) return MakeBin::bit_range_twins_14k;
    } else {
      const std::uint64_t alone = bytes_of_twins(row, entries, 1);
      if (alone <= kBitRange3k / shrink) return MakeBin::bit_range_3k;
      if (alone <= kBitRange6k / shrink) return MakeBin::bit_range_6k;
      if (alone <= kBitRange10k / shrink) return MakeBin::bit_range_10k;
      if (alone <= kBitRange13k / shrink) return MakeBin::bit_range_13k;
    }
    return fits_wide(row, entries, with_twins ? kMostTwins / 2 : 1) ? MakeBin::bit_range_wide
                                                                    : MakeBin::count;
  }
};

/// `changes` within the limits of the device, for an A of so many rows and entries and a B of so
/// many columns.
BinRules rules_for(const BinRules& changes, int value_bytes, Index rows, Offset a_nnz, Index cols);

}  // namespace csrkit::gpu
