// The limits by which rows of C are counted and made: those that are fixed, and those that are not.
#pragma once

#include "gpu/spgemm/adaptive_rows/rules/hub_choice.h"
#include "gpu/spgemm/adaptive_rows/rules/ways_to_sum.h"

namespace csrkit::gpu {

/// Where a thread sorts each row, rows of at most so many products have kernels of their own.
inline constexpr int kFewProducts = 8;

/// The most and fewest products of a row that one thread merges (the most fewer in f64). Only where
/// neighbouring rows are alike, as on a grid: as many sources as the row before, the first and last
/// within kNearSources of that row's. Elsewhere lanes wait for longer rows and for L2, and sorting
/// is faster; so it is where a thread sorts a row. Measured on an H200.
inline constexpr std::uint32_t kMostMerged = 64;
inline constexpr std::uint32_t kMostMergedDoubles = 32;
inline constexpr std::uint32_t kFewestMerged = 17;
inline constexpr Index kNearSources = 32;
/// The most products of a row that is sorted unless it is dense. One warp sorts them to count
/// entries, two to make them; a block sorts more, where bit ranges do not suit.
inline constexpr std::uint32_t kMostSortedByWarp = 512;
/// Up to so many columns of B, a column and a product's number in a row that a warp sorts fit 32
/// bits.
inline constexpr Index kMostColumnsOfAWarp = Index{1} << 23;
/// The most products that a block sorts.
inline constexpr std::uint32_t kMostSorted = 4096;

/// Twins are rows of A with the same columns, as where a node of a mesh has several unknowns. One
/// warp makes at most kMostTwins of their rows of C. They are looked for where rows of A are long,
/// as in a mesh: kLongRow entries or more on average. They are also looked for where rows have
/// kFewestForTwins entries or more and a sample finds twins side by side: shorter rows mostly have
/// too few products (sorts_twins), and to look in vain takes a tenth of the time.
inline constexpr int kMostTwins = 6;
inline constexpr Offset kLongRow = 17;
inline constexpr Offset kFewestForTwins = 10;

/// New values are made with twins instead of from a list if three rows in five are twins, rows have
/// kFewestOfTwin products or more on average and none has more than twice the average, and there
/// are kFewestTwinWarps warps or more. Measured on an H100.
inline constexpr Offset kFewestOfTwin = 4096;
inline constexpr Offset kFewestTwinWarps = Offset{1} << 14;

/// Counting keeps a row's bits for making if it has this many products or more for each word of its
/// range. Measured on an H100.
inline constexpr std::uint32_t kProductsPerKeptWord = 8;

/// Of rows with fewer products, only words that have a bit are kept, with their numbers, if the row
/// has this many products or more for each such word.
inline constexpr std::uint32_t kProductsPerKeptPair = 16;

/// Where B's rows have about so many entries or more on average, no warp of a block waits for a
/// turn at a sum (BlockSums). Then more blocks than teams of 96 KiB are at work. Measured on H100s,
/// when blocks took such rows of B one by one.
inline constexpr std::uint32_t kLongSources = 100;

/// With this many products for each word of its range a row is dense: one warp adds products up by
/// column faster than it sorts them. Where rows of A are long, as in a mesh, most columns of a row
/// come many times, and a range may have kWordsPerProduct words for each product. Measured on an
/// H200 with 70 real matrices (docs/lab/2026-11-27-spgemm-dense-rows.md).
inline constexpr std::uint32_t kProductsPerDenseWord = 4;
inline constexpr std::uint32_t kWordsPerProduct = 2;

/// Parts of rows that are cut have about kPartProducts products and at most kPartWords words, so
/// that their sums fit into shared memory; with fewer than kFewestPartWords words, searching
/// sources would take longer than multiplying. Rows that are cut because they would finish last
/// have smaller parts (kSmallPartProducts).
inline constexpr std::uint32_t kPartProducts = 3072;
inline constexpr std::uint32_t kSmallPartProducts = 1536;
inline constexpr std::uint32_t kPartWords = 8192;
inline constexpr std::uint32_t kFewestPartWords = 16;
/// Rows of fewer products are never cut for being slow (tests shrink this limit).
inline constexpr std::uint32_t kFewestCutProducts = 2048;
/// Rows of more products are always cut: one block would take milliseconds.
inline constexpr std::uint32_t kMostOfABlock = 1u << 22;

/// The most products, and the most entries of A, of all hubs together. Beyond it only longer rows
/// are hubs, or none: that many rows fill a device anyway, and the products of hubs take memory
/// beside C.
inline constexpr Offset kMostOfHubs = Offset{1} << 23;
/// Rows of A with more than kFewestSpreadSources entries are profiled by several blocks,
/// kSpreadSources entries each.
inline constexpr Offset kFewestSpreadSources = 1024;
inline constexpr int kSpreadSources = 1024;

/// Small products are made in one pass: rows are not counted but made in a buffer beside C, and
/// then moved together, so that the host waits once. Limits: entries of A (kMostOfSmall) and rows
/// (kMostRowsOfSmall, as every row reserves its room at one address), products of a row
/// (kMostOfSmallRow), entries of C per entry of A (kRoomPerEntry), and the average length of B's
/// rows (kLengthOfSmall: with longer ones some row is probably too long). Measured on an H100.
inline constexpr Offset kMostOfSmall = Offset{1} << 17;
inline constexpr Index kMostRowsOfSmall = 5 << 10;
inline constexpr int kMostOfSmallRow = 256;
inline constexpr Offset kRoomPerEntry = 16;
inline constexpr Offset kLengthOfSmall = 8;

/// Rows that are made while they are counted are staged (staged_rows.h). Shorter ones are not:
/// counting them is as fast as copying them. They are in sort_64 and the bins before.
inline constexpr int kFewestToStage = 65;
/// Products for two entries of C, by a sample, from which that pays: with fewer, moving entries
/// twice takes longer than counting. Measured on an H200.
inline constexpr Offset kLeastProductsOfTwoEntries = 5;

/// Large products whose rows are nearly all tiny (of at most 16 products) are made in the order of
/// A, in one pass: two rows of three or more must be tiny and no copies of one row of B, and one
/// row in kRowsOfALonger may be longer, of at most kMostOfALonger products (sort_64). Measured on
/// an H200 (docs/lab/2026-11-30-spgemm-rows-in-order.md).
inline constexpr std::uint32_t kMostOfTiny = 16;
inline constexpr std::uint32_t kMostOfALonger = 64;
inline constexpr Offset kRowsOfALonger = 16;

/// Adjustable limits: some depend on the device or the product; tests lower some to fill every bin
/// with small matrices.
struct BinLimits {
  int value_bytes = 4;
  /// Two blocks on a multiprocessor of 227 KiB, with their static memory.
  int most_block_bytes = 102 * 1024, most_part_bytes = 84 * 1024;
  std::uint32_t most_hashed = 4096;  // the most products, and so entries, of a row in a hash table
  /// The most products that one warp takes alone.
  std::uint32_t most_of_a_warp = 65536;
  /// The most products of a row of which a warp keeps only words that have a bit; every product
  /// sets it by longest_wide_row.
  std::uint32_t most_of_a_wide_row = 16384;
  /// Divides every limit on a row's length. 1 but in tests.
  std::uint32_t shrink = 1;
  bool is_wide = false;  // B has more columns than a warp's sort can tell apart
  bool prefers_merging = true;
  /// Rows of A: with fewer, one thread per row leaves most of a device idle.
  Index fewest_merged_rows = 1 << 16;
  /// With so many rows in sort_16, a thread sorts each. Fewer have four lanes each.
  Offset fewest_tiny = 1 << 16;
  /// Rows of A from which tiny rows are made in the order of A.
  Index fewest_in_order = 1 << 16;
  /// With so many rows in bit ranges, each is made by one warp. With fewer, warps would leave most
  /// of a large device idle, and the longest row would take as long as all others: then four warps
  /// make a row if their sums fit, or a row that is not too long is sorted. Measured on an H200.
  std::uint32_t fewest_for_warps = 1 << 14;
  /// With so many rows in bit ranges, four warps get at most 48 KiB, so that a multiprocessor holds
  /// enough teams; with fewer, 96 KiB.
  std::uint32_t fewest_for_small_teams = 1 << 12;
  std::uint32_t most_of_a_team = 0;  // bytes; 0: no teams. Set by team_bytes in every product
  /// Rows with so many products or more are waited for: they may have a large team. Set by
  /// large_team_products in every product.
  std::uint32_t fewest_of_large_team = UINT32_MAX;
  bool has_large_teams = true;  // whether they fit a multiprocessor

  /// With at most so many entries of A, short rows are counted and made before the host knows how
  /// many there are. Larger products launch as many blocks as needed, beside longer rows. Measured
  /// on an H200.
  Offset most_early = Offset{1} << 19;
  std::uint32_t most_sorted_to_count = 4096;  // products
  std::uint32_t most_sorted_to_make = 4096;
  /// With at most so many products per entry of C, new values come from a list of products, if
  /// memory allows. Beyond, the list is twenty times as long as C and no faster. 0: never. Measured
  /// on an H200.
  std::uint32_t most_listed = 20;
  /// The same limit in products of at most few_listed multiplications, whose rows are too few to
  /// fill a device otherwise. The list takes about 9 bytes for each multiplication. Measured on an
  /// H100.
  std::uint32_t most_listed_of_few = 128;
  Offset few_listed = Offset{1} << 27;
  Offset fewest_twin_warps = kFewestTwinWarps;
  /// The most bytes for entries of rows that are made while they are counted; 0: none are. So many
  /// rows fill a device many times over.
  Offset most_staged_bytes = Offset{1} << 30;
  /// Hubs have more than hub_sources entries of A, and at most most_per_hub_source products for
  /// each. 0: choose_hub_sources decides.
  Offset hub_sources = 0;
  Offset most_per_hub_source = kMostPerHubSource;
  Offset most_of_hubs = kMostOfHubs;
  /// Rows of A with more entries are profiled by eight lanes, which also find twins. 8 where rows
  /// are short and have twins.
  Offset most_of_a_lane = 16;
  /// Rows of A with more entries are profiled by a warp instead of eight lanes, which would finish
  /// last.
  Offset most_of_eight_lanes = 128;
  /// Rows of A with more entries are profiled by several blocks.
  Offset fewest_spread = kFewestSpreadSources;
  bool keeps_any_bits = true;    // whether counting keeps bits for making
  bool keeps_pairs = true;       // or only words that have a bit, where many have none
  bool prefers_twins = true;     // makes rows of A with the same columns together
  bool prefers_one_pass = true;  // makes small products in one pass
  Offset most_small_rows = kMostRowsOfSmall;
  /// Dense rows have at least so many products per word, and more than fewest_dense products: rows
  /// of small products are never dense, so that one pass gives the same bits.
  std::uint32_t products_per_dense_word = kProductsPerDenseWord;
  std::uint32_t fewest_dense = kMostOfSmallRow;
  bool prefers_bit_ranges = true;  // for rows with enough products; see suits_bit_range
  /// A row with more nanoseconds (row_nanoseconds) is cut into parts. 0: choose_cut decides.
  unsigned long long most_alone = 0;
  SharedSums shared_sums;
  /// With so many rows in narrow bit ranges, a warp counts each; with fewer, warps would leave most
  /// of a large device idle, and a block does, unless rows are even and short.
  Offset fewest_counted_by_warps = 1 << 14;
  /// Whether a row in a bit range is waited for, as rules.cpp says: blocks that count are larger.
  bool waits_for_a_row = false;
  bool has_long_rows = false;  // see kLongRow; set from the plan's matrices
};

}  // namespace csrkit::gpu
