// The rules of adaptive_rows: how each row of C is counted and made, with every limit.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "gpu/spgemm/adaptive_rows/hub_choice.h"

namespace csrkit::gpu {

/// How the entries of a row are counted. Bins of longer rows have higher numbers, except twins.
enum class CountBin : std::uint8_t {
  done,     // empty, or a copy of one row of B: known without counting
  merge_4,  // short, of at most 4 (8) rows of B: a thread per row
  merge_8,
  sort_16,  // of at most so many products
  sort_32,
  sort_64,
  sort_128,
  sort_256,
  sort_512,
  sort_1024,
  sort_2048,
  sort_4096,
  hash_64,  // tables of so many slots, a slot for a word of 32 columns
  hash_256,
  hash_512,
  bit_range_warp,  // a bit per column between the row's first and last
  hash_1024,
  hash_4096,
  hash_16384,
  bit_range_block,
  twin,  // not counted itself: another row of A with the same columns is
  // the same, of a row that is sorted; `twin` is of a row in a bit range
  sorted_twin,
  parts,  // a bit per column, cut into parts that a block can hold
  hubs,   // of hundreds of short rows of B or more: the whole device sorts their products
  count
};

inline CSRKIT_HOST_DEVICE bool is_bit_range(CountBin bin) {
  return bin == CountBin::bit_range_warp || bin == CountBin::bit_range_block;
}

/// How the entries of a row are made. A bit range has its sums beside its bits in shared memory.
enum class MakeBin : std::uint8_t {
  // empty; or in CountBin::parts or CountBin::hubs, made in the same way; or staged
  done,
  copy,
  merge_4,
  merge_8,
  sort_16,  // by products
  sort_32,
  sort_64,
  sort_128,
  sort_256,
  sort_512,
  sort_1024,
  sort_2048,
  sort_4096,
  hash_256,  // tables of so many slots, a slot per column, at most half of them used
  hash_1024,
  hash_4096,
  hash_16384,
  bit_range_3k,  // by a warp, in so many bytes of shared memory
  bit_range_6k,
  bit_range_10k,
  bit_range_13k,
  bit_range_twins_8k,  // with their twins
  bit_range_twins_11k,
  bit_range_twins_14k,
  bit_range_wide,      // by a warp, in kWideBitRange bytes: only words that have a bit
  bit_range_team_24k,  // by four warps
  bit_range_team_48k,
  bit_range_team_96k,
  bit_range_team_192k,
  bit_range_block,
  bit_range_whole,  // up to all of the shared memory; sums in C if that is not enough
  twin,             // made together with another row whose row of A has the same columns
  count
};

inline constexpr int kMostBins = 32;
static_assert(static_cast<int>(CountBin::count) <= kMostBins);
static_assert(static_cast<int>(MakeBin::count) <= kMostBins);

/// A word has a bit for each of 32 columns.
inline constexpr int kWordLog2 = 5;

/// Bytes of shared memory of one row in each bin of bit ranges. Blocks of four rows have 3.7 KiB of
/// their own: 14, 8, 5 and 4 fit the 228 KiB of a multiprocessor; registers allow 10 (f32).
inline constexpr int kBitRange3k = 3 * 1024;
inline constexpr int kBitRange6k = 6 * 1024;
inline constexpr int kBitRange10k = 10 * 1024;
inline constexpr int kBitRange13k = 13 * 1024;
/// With twins: 6, 5 and 4.
inline constexpr int kTwinRange8k = 8 * 1024;
inline constexpr int kTwinRange11k = 11 * 1024;
inline constexpr int kTwinRange14k = 14 * 1024;
inline constexpr int kWideBitRange = 10 * 1024;
inline constexpr int kTeamBitRange24k = 24 * 1024;
inline constexpr int kTeamBitRange48k = 48 * 1024;
inline constexpr int kTeamBitRange96k = 96 * 1024;
inline constexpr int kTeamBitRange192k = 192 * 1024;
inline constexpr int kWarpsOfATeam = 4;
/// Where B's rows have about so many entries or more on average, no warp of a block waits for a
/// turn at a sum (BlockSums). Then more blocks than teams of 96 KiB are at work. Measured on H100s,
/// when blocks took such rows of B one by one.
inline constexpr std::uint32_t kLongSources = 100;
/// When the four warps of a team share each source and one set of sums, instead of taking a quarter
/// of the sources each with sums of their own. They synchronize after every 128 products of a
/// source. So rows of B must be long on average, and a row may not have many sources, or it would
/// finish last. Measured on an H100.
struct SharedSums {
  std::uint32_t fewest_per_source = 64;
  Offset most_sources = 128;

  CSRKIT_HOST_DEVICE bool suit(std::uint32_t products, Offset sources) const {
    return sources <= most_sources && Offset{products} >= sources * fewest_per_source;
  }
};
/// How a block adds up the products of a row.
enum class BlockSums : std::uint8_t {
  claims,  // in any order, which is mended at the end (claimed_sums.cuh)
  shares,  // each warp those of a share of the columns
  turns    // all warps source by source, or with bids for their turns (row_sums.cuh)
};
/// Bytes of shared memory for bids.
inline constexpr int kBidBytes = 16 * 1024;
/// Bytes of shared memory for each row of a bin; 0: the bin has none, or its rows decide (blocks).
constexpr int room_of(MakeBin bin) {
  switch (bin) {
    case MakeBin::bit_range_3k: return kBitRange3k;
    case MakeBin::bit_range_6k: return kBitRange6k;
    case MakeBin::bit_range_10k: return kBitRange10k;
    case MakeBin::bit_range_13k: return kBitRange13k;
    case MakeBin::bit_range_twins_8k: return kTwinRange8k;
    case MakeBin::bit_range_twins_11k: return kTwinRange11k;
    case MakeBin::bit_range_twins_14k: return kTwinRange14k;
    case MakeBin::bit_range_wide: return kWideBitRange;
    case MakeBin::bit_range_team_24k: return kTeamBitRange24k;
    case MakeBin::bit_range_team_48k: return kTeamBitRange48k;
    case MakeBin::bit_range_team_96k: return kTeamBitRange96k;
    case MakeBin::bit_range_team_192k: return kTeamBitRange192k;
    default: return 0;
  }
}
inline constexpr int kThreadsOfBlock = 256, kThreadsOfWhole = 512;  // of the two bins of blocks
inline constexpr int kBlockBitRangeBytes = 48 * 1024;
inline constexpr int kWarpBitRangeWords = 1024;
inline constexpr int kBlockBitRangeWords = 4096;
/// Of rows that are too long to be sorted. Cut into parts, they search every source once per part.
inline constexpr int kMostBlockBitRangeWords = 8192;
inline constexpr int kTableEntryBytes = 8;  // a word's bits, and the number of entries before it

/// The most static shared memory of a block, beside what a launch asks for.
inline constexpr int kMostStaticBytes = 28 * 1024;
inline constexpr int kLargestTableBytes = 222 * 1024;  // hash_16384 with values of 8 bytes

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
/// Rows of B that are shorter than this on average are packed into the lanes of a warp.
inline constexpr Offset kShortSources = 12;

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

/// What decides whether rows are staged.
struct StagingFacts {
  Offset rows = 0, twins = 0;               // of A; those that are sorted with another
  Offset products = 0, sorted = 0;          // of all rows; of rows that may be staged, at most
  Offset sampled = 0, sampled_entries = 0;  // products and entries of some rows of C
};

/// The facts about a row that the rules use.
struct RowFacts {
  std::uint32_t products = 0;      // 2^32 - 1: so many or more
  std::uint32_t words = 0;         // from the row's first possible column to its last
  Offset sources = 0;              // entries in the row of A
  bool is_like_neighbour = false;  // sources are as many as those of the row before, and near them
};

/// Totals of a product's rows in bit ranges.
struct BitRangeRows {
  Offset rows = 0;
  std::uint32_t longest = 0;  // products of the longest row
  Offset products = 0;        // of the whole product
};

/// The rules with their adjustable limits: some depend on the device; tests lower some to fill
/// every bin with small matrices.
struct BinRules {
  int value_bytes = 4;
  /// Two blocks on a multiprocessor of 227 KiB, with their static memory.
  int most_block_bytes = 102 * 1024, most_part_bytes = 84 * 1024;
  std::uint32_t most_hashed = 4096;  // the most products, and so entries, of a row in a hash table
  /// The most products that one warp takes alone.
  std::uint32_t most_of_a_warp = 65536;
  /// The most products of a row of which a warp keeps only words that have a bit; every product
  /// sets it by longest_wide_row.
  std::uint32_t most_of_a_wide_row = 16384;
  /// A row that is much longer than others would be waited for: a warp takes 40 ns for each of its
  /// products, with twins (an H100).
  std::uint32_t longest_wide_row(const BitRangeRows& of) const {
    constexpr Offset kTimesMean = 3;
    const Offset most = kTimesMean * of.products / (of.rows > 0 ? of.rows : 1);
    return most < Offset{most_of_a_wide_row} ? static_cast<std::uint32_t>(most)
                                             : most_of_a_wide_row;
  }
  /// Divides every limit on a row's length. 1 but in tests.
  std::uint32_t shrink = 1;
  bool is_wide = false;  // B has more columns than a warp's sort can tell apart
  bool prefers_merging = true;
  /// Rows of A: with fewer, one thread per row leaves most of a device idle.
  Index fewest_merged_rows = 1 << 16;
  /// With so many rows in sort_16, a thread sorts each. Fewer have four lanes each.
  Offset fewest_tiny = 1 << 16;
  /// With so many rows in bit ranges, each is made by one warp. With fewer, warps would leave most
  /// of a large device idle, and the longest row would take as long as all others: then four warps
  /// make a row if their sums fit, or a row that is not too long is sorted. Measured on an H200.
  std::uint32_t fewest_for_warps = 1 << 14;
  /// With so many rows in bit ranges, four warps get at most 48 KiB, so that a multiprocessor holds
  /// enough teams; with fewer, 96 KiB.
  std::uint32_t fewest_for_small_teams = 1 << 12;
  std::uint32_t most_of_a_team = 0;  // bytes; 0: no teams. Set by team_bytes in every product
  /// Rows with so many products or more may have a team of kTeamBitRange192k bytes. Set by
  /// large_team_products in every product.
  std::uint32_t fewest_of_large_team = UINT32_MAX;
  bool has_large_teams = true;  // whether they fit a multiprocessor

  /// Whether rows are many, and none takes a warp longer than kWarps warps take for the whole
  /// product: somewhat more than a device holds, as rows with twins take longer. Measured on an
  /// H200.
  bool are_even(const BitRangeRows& of) const {
    constexpr Offset kWarps = 2560;
    return of.rows >= Offset{fewest_for_small_teams} && Offset{of.longest} * kWarps <= of.products;
  }
  std::uint32_t team_bytes(const BitRangeRows& of) const {
    return of.rows >= Offset{fewest_for_warps} || are_even(of) ? 0
           : of.rows >= Offset{fewest_for_small_teams}         ? kTeamBitRange48k
                                                               : kTeamBitRange96k;
  }
  /// Nothing else fits a multiprocessor beside a team of kTeamBitRange192k bytes. So only rows that
  /// would take a block longer than the rest of the product takes have one: a block takes 12 ns for
  /// a product in turns, the rest 50 us and 0.01 ns for a product (an H100).
  std::uint32_t large_team_products(const BitRangeRows& of) const {
    constexpr Offset kFewest = 4096, kRestOfBlock = 1200;
    const Offset fewest = kFewest + of.products / kRestOfBlock;
    return has_large_teams && fewest < UINT32_MAX ? static_cast<std::uint32_t>(fewest) : UINT32_MAX;
  }
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
  Offset fewest_for_counting_warps(const BitRangeRows& of) const {
    constexpr std::uint32_t kMostOfAShortRow = 8192;
    return are_even(of) && of.longest <= kMostOfAShortRow ? 0 : fewest_counted_by_warps;
  }
  bool has_long_rows = false;  // see kLongRow; set from the plan's matrices

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
    return std::uint64_t{row.words} * kTableEntryBytes +
               kWarpsOfATeam * entries * static_cast<unsigned>(value_bytes) >
           kTeamBitRange96k / shrink;
  }
  /// Where a team shares sums: whether every column of the range gets a sum, which saves looking up
  /// places. So it is if C has half of the columns or more.
  static CSRKIT_HOST_DEVICE bool sums_every_column(std::uint32_t words, std::uint32_t entries) {
    return (std::uint64_t{words} << kWordLog2) <= 2 * std::uint64_t{entries};
  }
  /// Bytes of shared memory of a team that makes the row.
  CSRKIT_HOST_DEVICE std::uint64_t of_team(const RowFacts& row, std::uint32_t entries) const {
    const std::uint64_t of_words = std::uint64_t{row.words} * kTableEntryBytes;
    const auto bytes = static_cast<unsigned>(value_bytes);
    if (!shared_sums.suit(row.products, row.sources)) {
      return of_words + std::uint64_t{kWarpsOfATeam} * entries * bytes;
    }
    const bool every_column = sums_every_column(row.words, entries);
    return of_words +
           (every_column ? std::uint64_t{row.words} << kWordLog2 : std::uint64_t{entries}) * bytes;
  }

  /// The most bytes that a team for the row may have.
  CSRKIT_HOST_DEVICE std::uint32_t most_bytes_of_team(const RowFacts& row) const {
    const bool shares = shared_sums.suit(row.products, row.sources);
    if (!shares && Offset{row.products} >= row.sources * kLongSources) {
      return most_of_a_team < kTeamBitRange48k ? most_of_a_team : kTeamBitRange48k;
    }
    return row.products >= fewest_of_large_team / shrink ? kTeamBitRange192k : most_of_a_team;
  }

  /// Whether rows are staged: their columns come often, they are an eighth of the work or more, and
  /// they are not mostly twins, of which one is counted but all would move. Rows must be made by
  /// sorting where they are counted so, or sums would depend on which rows find room.
  bool stages(const StagingFacts& of) const {
    return most_staged_bytes > 0 && most_sorted_to_make >= most_sorted_to_count && of.sampled > 0 &&
           2 * of.sampled >= kLeastProductsOfTwoEntries * of.sampled_entries &&
           8 * of.sorted >= of.products && 5 * of.twins <= Offset{3} * of.rows;
  }

  bool may_have_twins(Offset rows, Offset a_nnz) const {
    return prefers_twins && a_nnz >= rows * kLongRow;
  }
  /// The same, if there are twins side by side.
  bool may_have_short_twins(Offset rows, Offset a_nnz) const {
    return prefers_twins && rows > 1 && a_nnz >= rows * kFewestForTwins && a_nnz < rows * kLongRow;
  }

  /// Whether new values are made row by row although there is room for a list; see kFewestOfTwin.
  /// `longest`: the products of the longest row, in 32 bits as in RowFacts, so its product with
  /// `rows` fits an Offset.
  bool makes_twins_again(Index rows, Offset twins, Offset products, std::uint32_t longest) const {
    return twins > 0 && 5 * twins >= Offset{3} * rows && rows - twins >= fewest_twin_warps &&
           products >= kFewestOfTwin * rows && longest < UINT32_MAX &&
           (Offset{longest} * rows + 1) / 2 <= products;
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

  /// Whether a product is small enough for one pass. All its rows must be ones that a warp would
  /// sort otherwise, so that the bits are the same.
  bool is_small(Offset rows, Offset cols, Offset a_nnz, Offset inner, Offset b_nnz) const {
    return prefers_one_pass && shrink == 1 && most_sorted_to_make >= kMostOfSmallRow &&
           rows < fewest_merged_rows && rows <= most_small_rows && cols <= kMostColumnsOfAWarp &&
           a_nnz > 0 && a_nnz <= kMostOfSmall && b_nnz > 0 && b_nnz <= kLengthOfSmall * inner;
  }

  CSRKIT_HOST_DEVICE bool merges(const RowFacts& row) const {
    return prefers_merging && row.is_like_neighbour && row.sources <= 8 &&
           row.products >= kFewestMerged / shrink && row.products <= kMostMerged / shrink;
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
           (of_twins(row, entries, kMostTwins / 2) <= kTwinRange14k / shrink ||
            fits_wide(row, entries, kMostTwins / 2));
  }
  /// Bytes of shared memory for `at_once` twins made at a time.
  CSRKIT_HOST_DEVICE std::uint64_t of_twins(const RowFacts& row, std::uint32_t entries,
                                            int at_once) const {
    return std::uint64_t{row.words} * kTableEntryBytes +
           std::uint64_t{entries} * static_cast<unsigned>(at_once * value_bytes);
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

  /// At most a third of the products may be repeats, and numbers of places, sources and repeats
  /// must fit 16 bits.
  static CSRKIT_HOST_DEVICE bool suits_claims(const RowFacts& row, std::uint32_t entries) {
    constexpr std::uint32_t kMost = 0xffff;
    return Offset{entries} * 3 >= Offset{row.products} * 2 && row.products <= kMost &&
           row.sources <= kMost;
  }
  /// Bytes of shared memory: words, sums, three bits and a source for each place, and repeats with
  /// their terms. Places are rounded up to whole words.
  static CSRKIT_HOST_DEVICE std::uint64_t bytes_of_claims(const RowFacts& row,
                                                          std::uint32_t entries,
                                                          std::uint32_t value_bytes) {
    const std::uint64_t places = (std::uint64_t{entries} + 31) / 32 * 32;
    const std::uint64_t repeats = row.products - entries;
    return std::uint64_t{row.words} * kTableEntryBytes + places * (value_bytes + 2) +
           places / 8 * 3 + repeats * (8 + value_bytes);
  }
  /// Whether each warp finds `fewest` products or more of its share in every source, on average.
  /// Where columns come very often, a few mostly come far more often than the rest, and one warp
  /// has most of the work.
  static CSRKIT_HOST_DEVICE bool suits_shares(const RowFacts& row, std::uint32_t entries,
                                              int threads, Offset fewest) {
    constexpr Offset kMostOfAnEntry = 4;
    return Offset{row.products} >= row.sources * (threads / 32) * fewest &&
           Offset{row.products} <= kMostOfAnEntry * entries;
  }
  /// Whether a block that takes turns has products of several sources at once. Measured on an H200.
  static CSRKIT_HOST_DEVICE bool packs_in_block(const RowFacts& row, int threads) {
    return row.products < 0x7fffffffu && Offset{row.products} < row.sources * (threads * 2 / 5);
  }
  /// Measured on an H200 (docs/lab/2026-11-29-spgemm-block-sums.md).
  static CSRKIT_HOST_DEVICE BlockSums block_sums(const RowFacts& row, std::uint32_t entries,
                                                 int threads, std::uint32_t value_bytes,
                                                 std::uint64_t room) {
    constexpr Offset kMany = kShortSources, kFewest = 6;  // from kMany on walks are not packed
    if (suits_shares(row, entries, threads, kMany)) return BlockSums::shares;
    if (suits_claims(row, entries) && bytes_of_claims(row, entries, value_bytes) <= room) {
      return BlockSums::claims;
    }
    return suits_shares(row, entries, threads, kFewest) ? BlockSums::shares : BlockSums::turns;
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
    if (most_of_a_team > 0 && row.products > kMostSortedByWarp / shrink) {
      const std::uint64_t team = of_team(row, entries);
      // A large team leaves room for few others on its multiprocessor.
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
        of_team(row, entries) <= kTeamBitRange24k / shrink) {
      return MakeBin::bit_range_team_24k;
    }
    return fits_block(row, entries) ? MakeBin::bit_range_block : MakeBin::bit_range_whole;
  }
  CSRKIT_HOST_DEVICE MakeBin team_bin(std::uint64_t bytes) const {
    return bytes <= kTeamBitRange24k / shrink   ? MakeBin::bit_range_team_24k
           : bytes <= kTeamBitRange48k / shrink ? MakeBin::bit_range_team_48k
           : bytes <= kTeamBitRange96k / shrink ? MakeBin::bit_range_team_96k
                                                : MakeBin::bit_range_team_192k;
  }
  /// The bin of a row that one warp makes, alone or with twins; MakeBin::count if it has no room.
  CSRKIT_HOST_DEVICE MakeBin warp_bin(const RowFacts& row, std::uint32_t entries,
                                      std::uint32_t twins) const {
    const bool with_twins = makes_twins(row, entries, twins);
    if (with_twins) {
      std::uint64_t of_all = of_twins(row, entries, kMostTwins);
      if (twins < kMostTwins / 2 || of_all > kTwinRange14k / shrink) {
        of_all = of_twins(row, entries, kMostTwins / 2);
      }
      if (of_all <= kTwinRange8k / shrink) return MakeBin::bit_range_twins_8k;
      if (of_all <= kTwinRange11k / shrink) return MakeBin::bit_range_twins_11k;
      if (of_all <= kTwinRange14k / shrink) return MakeBin::bit_range_twins_14k;
    } else {
      const std::uint64_t alone = of_twins(row, entries, 1);
      if (alone <= kBitRange3k / shrink) return MakeBin::bit_range_3k;
      if (alone <= kBitRange6k / shrink) return MakeBin::bit_range_6k;
      if (alone <= kBitRange10k / shrink) return MakeBin::bit_range_10k;
      if (alone <= kBitRange13k / shrink) return MakeBin::bit_range_13k;
    }
    return fits_wide(row, entries, with_twins ? kMostTwins / 2 : 1) ? MakeBin::bit_range_wide
                                                                    : MakeBin::count;
  }
};

}  // namespace csrkit::gpu
