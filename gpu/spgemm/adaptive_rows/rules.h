// Which row of C is made how: the rules of adaptive_rows, and every number in them.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "gpu/spgemm/adaptive_rows/hub_choice.h"

namespace csrkit::gpu {

/// How the entries of a row are counted. Bins with longer rows have higher numbers, but for twin.
enum class CountBin : std::uint8_t {
  done,     // empty, or a copy of one row of B: the profile knows
  merge_4,  // of at most so many rows of B, and short: a thread per row
  merge_8,
  sort_16,  // by at most so many products
  sort_32,
  sort_64,
  sort_128,
  sort_256,
  sort_512,
  sort_1024,
  sort_2048,
  sort_4096,
  hash_64,  // tables of so many slots, a slot for 32 columns
  hash_256,
  hash_512,
  bit_range_warp,  // a bit per column between the row's first and last
  hash_1024,
  hash_4096,
  hash_16384,
  bit_range_block,
  twin,   // not counted: a row whose row of A has the same columns is
  parts,  // a bit per column, cut into parts of as many columns as a block can hold
  hubs,   // of hundreds of short rows of B or more: their products are sorted by the whole device
  count
};

/// How the entries of a row are made. The sums of a bit range stand beside its bits in shared
/// memory.
enum class MakeBin : std::uint8_t {
  done,  // empty, or in CountBin::parts or CountBin::hubs: made in the same way
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
  hash_64,  // tables of so many slots, a slot per column, at most half of them used
  hash_128,
  hash_256,
  hash_512,
  hash_1024,
  hash_4096,
  hash_16384,
  bit_range_3k,  // by bytes of a warp's shared memory
  bit_range_6k,
  bit_range_8k,
  bit_range_10k,
  bit_range_14k,
  bit_range_team_12k,  // of four warps
  bit_range_team_24k,
  bit_range_team_48k,
  bit_range_team_96k,
  bit_range_block,
  bit_range_whole,  // all of the shared memory; sums in C itself if that is not enough
  twin,             // made with another row, whose row of A has the same columns
  count
};

inline constexpr int kMostBins = 32;
static_assert(static_cast<int>(CountBin::count) <= kMostBins);
static_assert(static_cast<int>(MakeBin::count) <= kMostBins);

/// Columns stand in words of 32, one bit each.
inline constexpr int kWordLog2 = 5;

/// Bytes of shared memory of one row, and words of a bit range.
inline constexpr int kBitRange3k = 3 * 1024;
inline constexpr int kBitRange6k = 6 * 1024;
inline constexpr int kBitRange8k = 8 * 1024;
inline constexpr int kBitRange10k = 10 * 1024;
inline constexpr int kBitRange14k = 14 * 1024;
inline constexpr int kTeamBitRange12k = 12 * 1024;
inline constexpr int kTeamBitRange24k = 24 * 1024;
inline constexpr int kTeamBitRange48k = 48 * 1024;
inline constexpr int kTeamBitRange96k = 96 * 1024;
inline constexpr int kWarpsOfATeam = 4;
/// Where the warps of a team go through one source after another together: each would have sums of
/// its own otherwise. They wait for each other after every 128 products of a source, so rows of B
/// must be long in the mean, and a row of many sources would be waited for. Measured on an H100.
struct SharedSums {
  std::uint32_t fewest_per_source = 64;
  Offset most_sources = 128;

  CSRKIT_HOST_DEVICE bool suit(std::uint32_t products, Offset sources) const {
    return sources <= most_sources && Offset{products} >= sources * fewest_per_source;
  }
};
inline constexpr int kBlockBitRangeBytes = 48 * 1024;
inline constexpr int kWarpBitRangeWords = 1024;
inline constexpr int kBlockBitRangeWords = 4096;
inline constexpr int kTableEntryBytes = 8;  // a word's bits, and how many entries stand before it

/// Shared memory of a block beside what a launch asks for, at most.
inline constexpr int kMostStaticBytes = 28 * 1024;
inline constexpr int kLargestTableBytes = 222 * 1024;  // hash_16384 with values of 8 bytes

/// Products of a row that one thread makes. Only where neighbouring rows read neighbouring memory:
/// elsewhere every step of every lane waits for L2, and sorting is faster. Measured on an H200.
inline constexpr std::uint32_t kMostMerged = 64;
inline constexpr std::uint32_t kMostMergedDoubles = 32;
inline constexpr Index kNearSources = 32;
/// Products that a warp sorts; more are sorted by a block, where bit ranges do not suit.
inline constexpr std::uint32_t kMostSortedByWarp = 512;
/// Columns of B up to which every row that a warp sorts has keys of 32 bits.
inline constexpr Index kMostColumnsOfAWarp = Index{1} << 23;
/// Products that a block sorts.
inline constexpr std::uint32_t kMostSorted = 4096;

/// Rows of A with the same columns, as where a node of a mesh has several unknowns: one warp makes
/// at most so many of C. Looked for where rows of A have at least so many entries.
inline constexpr int kMostTwins = 6;
inline constexpr Offset kFewestTwinSources = 17;
/// Rows of B that are shorter on average are packed into the lanes of a warp.
inline constexpr Offset kShortSources = 20;

/// New values come from twins and not from a list where they are three rows in five, of so many
/// products in the mean and none of more than twice that, and so many warps make all. Measured on
/// an H100.
inline constexpr Offset kFewestOfTwin = 4096;
inline constexpr Offset kFewestTwinWarps = Offset{1} << 14;

/// Products of a row, for each word of its range, from which the bits that counting found are kept.
/// Measured on an H100.
inline constexpr std::uint32_t kProductsPerKeptWord = 8;

/// Of rows with fewer, the words that have a bit are kept, with their numbers, if the row has this
/// many products or more for each.
inline constexpr std::uint32_t kProductsPerKeptPair = 16;

/// And products of a row, for each word of its range, from which one warp adds them up where they
/// belong sooner than it sorts them. Measured on an H100.
inline constexpr std::uint32_t kProductsPerDenseWord = 32;

/// Of rows that are cut: a part has about so many products, and at most so many words. Both keep
/// its sums in shared memory. Parts of fewer words would be searched for longer than they are
/// worked on. A row that is cut because it would be waited for has smaller parts.
inline constexpr std::uint32_t kPartProducts = 3072;
inline constexpr std::uint32_t kSmallPartProducts = 1536;
inline constexpr std::uint32_t kPartWords = 8192;
inline constexpr std::uint32_t kFewestPartWords = 16;
/// Rows of fewer products are never cut, unless a test shrinks this.
inline constexpr std::uint32_t kFewestCutProducts = 2048;
/// Rows of more products are, however narrow: one block would take milliseconds.
inline constexpr std::uint32_t kMostOfABlock = 1u << 22;

/// Hubs have no more products, and entries of A, than this together; where they had, only longer
/// rows are hubs, or none: so many rows fill a device as they are, and the products of hubs take
/// memory beside C.
inline constexpr Offset kMostOfHubs = Offset{1} << 23;
/// Rows of A with more entries than this are profiled by several blocks, so many entries each.
inline constexpr Offset kFewestSpreadSources = 1024;
inline constexpr int kSpreadSources = 1024;

/// Small products are made in one pass: no row is counted, every row is made beside C, and the gaps
/// between rows are closed afterwards, so that the host waits once. Of A at most so many entries
/// and rows, each of which asks one address for its room; of a row at most so many products, and
/// room for so many entries of C per entry of A. Where B's rows are longer on average, one of its
/// rows is likely to be too long. Measured on an H100.
inline constexpr Offset kMostOfSmall = Offset{1} << 17;
inline constexpr Index kMostRowsOfSmall = 5 << 10;
inline constexpr int kMostOfSmallRow = 256;
inline constexpr Offset kRoomPerEntry = 16;
inline constexpr Offset kLengthOfSmall = 8;

/// What the rules know of a row.
struct RowFacts {
  std::uint32_t products = 0;      // 2^32 - 1 stands for that and more
  std::uint32_t words = 0;         // from the row's first possible column to its last
  Offset sources = 0;              // entries in the row of A
  bool is_like_neighbour = false;  // first and last source near those of the row before
};

/// Of all rows of a product whose accumulator is a range of bits.
struct BitRangeRows {
  Offset rows = 0;
  std::uint32_t longest = 0;  // products of one
  Offset products = 0;        // of the whole product
};

/// Limits that depend on the device, or that a test lowers to reach every bin with small matrices.
struct BinRules {
  int value_bytes = 4;
  int whole_bit_range_bytes =
      84 * 1024;                     // two blocks on a multiprocessor of 227 KiB, the rest of a
                                     // block's memory is static
  std::uint32_t most_hashed = 4096;  // products, and so entries, of a row in a hash table
  /// Products that one warp goes through alone.
  std::uint32_t most_of_a_warp = 65536;
  /// Divides every limit on a row's length. 1 but in tests.
  std::uint32_t shrink = 1;
  bool is_wide = false;  // B has more columns than a warp's sort can tell apart
  bool prefers_merging = true;
  Index fewest_merged_rows =
      1 << 16;  // of A: below, one thread per row leaves most of a device idle
  /// Rows in bit ranges from which each is made by one warp. Fewer leave most of a large device
  /// idle, and the longest takes as long as all others: four warps make one, if there is room for
  /// the sums of each, or it is sorted, if it is not too long. Measured on an H200.
  std::uint32_t fewest_for_warps = 1 << 14;
  /// From so many on, four warps take 48 KiB at most, so that a multiprocessor holds enough of
  /// them; below, 96 KiB.
  std::uint32_t fewest_for_small_teams = 1 << 12;
  std::uint32_t most_of_a_team = 0;  // bytes, in one product

  std::uint32_t team_bytes(const BitRangeRows& of) const {
    // No row takes longer than so many warps, about as many as a device has room for, take for all.
    constexpr Offset kWarpsOfADevice = 2048;
    const bool is_even = of.rows >= Offset{fewest_for_small_teams} &&
                         Offset{of.longest} * kWarpsOfADevice <= of.products;
    return of.rows >= Offset{fewest_for_warps} || is_even ? 0
           : of.rows >= Offset{fewest_for_small_teams}    ? kTeamBitRange48k
                                                          : kTeamBitRange96k;
  }
  /// Entries of A up to which short rows are counted and made before the host knows how many they
  /// are. Many are better off with a block for each few, beside longer ones. Measured on an H200.
  Offset most_early = Offset{1} << 19;
  std::uint32_t most_sorted_to_count = 4096;  // products
  std::uint32_t most_sorted_to_make = 4096;
  /// Products per entry of C up to which new values come from a list of products, where memory
  /// allows it; beyond, it is twenty times as long as C and no faster. 0: never. Measured on an
  /// H200.
  std::uint32_t most_listed = 20;
  /// And up to which, where there are no more than so many products: their rows are too few to fill
  /// a device by turns. The list takes some 9 bytes for each. Measured on an H100.
  std::uint32_t most_listed_of_few = 128;
  Offset few_listed = Offset{1} << 27;
  Offset fewest_twin_warps = kFewestTwinWarps;
  /// Of hubs: more entries of A than this, and no more products for each. 0: choose_hub_sources
  /// knows.
  Offset hub_sources = 0;
  Offset most_per_hub_source = kMostPerHubSource;
  Offset most_of_hubs = kMostOfHubs;
  /// Rows of A with more entries are profiled by a warp each: by eight lanes, one of them would be
  /// waited for.
  Offset most_of_eight_lanes = 128;
  /// Rows of A with more entries are profiled by several blocks.
  Offset fewest_spread = kFewestSpreadSources;
  bool keeps_any_bits = true;    // of rows that are counted by bits
  bool keeps_pairs = true;       // of words that have a bit, where a range has many that have none
  bool prefers_twins = true;     // where rows of A have the same columns
  bool prefers_one_pass = true;  // where the product is small
  Offset most_small_rows = kMostRowsOfSmall;
  /// Of dense rows. Those of a small product are never dense, so that one pass gives the same bits.
  std::uint32_t products_per_dense_word = kProductsPerDenseWord;
  std::uint32_t fewest_dense = kMostOfSmallRow;
  bool prefers_bit_ranges = true;  // where the range has no more words than the row has products
  /// Nanoseconds, by hub_choice.h, of a row alone beyond which it is cut into parts. 0: choose_cut
  /// knows.
  unsigned long long most_alone = 0;
  SharedSums shared_sums;
  /// Rows in narrow bit ranges from which a warp counts each. Fewer would leave most of a large
  /// device idle.
  Offset fewest_counted_by_warps = 1 << 14;

  CSRKIT_HOST_DEVICE bool suits_bit_range(const RowFacts& row) const {
    return prefers_bit_ranges && row.words <= row.products && row.words <= kBlockBitRangeWords &&
           row.products <= kMostOfABlock;
  }
  /// Whether the row has so many products for each word of its range that a warp adds them up
  /// where they belong sooner than it sorts them.
  CSRKIT_HOST_DEVICE bool is_dense(const RowFacts& row) const {
    return suits_bit_range(row) && row.products > fewest_dense / shrink &&
           row.words <= row.products / products_per_dense_word;
  }
  CSRKIT_HOST_DEVICE bool is_hub(const RowFacts& row) const {
    return row.products < UINT32_MAX &&
           may_be_hub(row.sources, row.products, hub_sources, most_per_hub_source);
  }

  /// Whether the row would be waited for if it were not cut: a block takes so long for it, and it
  /// may have too many entries for a team, which is faster.
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
  /// Whether every column of the range has a sum where sums are shared, so that no place is looked
  /// up.
  static CSRKIT_HOST_DEVICE bool sums_every_column(std::uint32_t words, std::uint32_t entries) {
    return (std::uint64_t{words} << kWordLog2) <= 2 * std::uint64_t{entries};
  }
  /// Bytes of a team that makes a row.
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

  bool may_have_twins(Offset rows, Offset a_nnz) const {
    return prefers_twins && a_nnz >= rows * kFewestTwinSources;
  }

  /// Whether new values come row by row although there is room for a list; `longest` is a row's
  /// products, as in RowFacts: 32 bits times those of `rows` fit an Offset, and what stands for
  /// more is too long in any case.
  bool makes_twins_again(Index rows, Offset twins, Offset products, std::uint32_t longest) const {
    return twins > 0 && 5 * twins >= Offset{3} * rows && rows - twins >= fewest_twin_warps &&
           products >= kFewestOfTwin * rows && longest < UINT32_MAX &&
           (Offset{longest} * rows + 1) / 2 <= products;
  }

  /// Whether the bits that counting finds are kept for making: from few products they are found a
  /// second time as fast as written and read.
  CSRKIT_HOST_DEVICE bool keeps_bits(const RowFacts& row) const {
    return keeps_any_bits && row.words <= row.products / kProductsPerKeptWord;
  }

  /// How many words that have a bit are kept with their numbers, at most, where keeps_bits says no.
  static CSRKIT_HOST_DEVICE std::uint32_t most_pairs(std::uint32_t products) {
    return products / kProductsPerKeptPair;
  }
  /// Words of memory for what counting keeps of a row: its bits, or how many pairs there are, their
  /// numbers and bits.
  CSRKIT_HOST_DEVICE std::uint32_t kept_words(const RowFacts& row) const {
    if (keeps_bits(row)) return row.words;
    const std::uint32_t pairs = most_pairs(row.products);
    return keeps_any_bits && keeps_pairs && pairs > 1 ? 2 * pairs - 1 : 0;
  }

  /// How wide the parts of a row are that is cut, in words.
  CSRKIT_HOST_DEVICE std::uint32_t part_words(std::uint32_t products, std::uint32_t words) const {
    const bool is_narrow = words <= kBlockBitRangeWords / shrink;
    const std::uint32_t of_part = is_narrow ? kSmallPartProducts : kPartProducts;
    const std::uint32_t by_products = products / at_least_1(of_part / shrink) + 1;
    const std::uint32_t most = at_least_1(kPartWords / shrink);
    const std::uint32_t fewest = at_least_1(kFewestPartWords / shrink);
    const std::uint32_t width = (words - 1) / by_products + 1;
    return width > most ? most : width < fewest ? fewest : width;
  }
  /// Of a row in CountBin::parts.
  CSRKIT_HOST_DEVICE std::uint32_t parts_of(const RowFacts& row) const {
    return (row.words - 1) / part_words(row.products, row.words) + 1;
  }
  static CSRKIT_HOST_DEVICE std::uint32_t at_least_1(std::uint32_t number) {
    return number > 0 ? number : 1;
  }

  /// Whether a product is small enough to be made in one pass. Rows must be ones that a warp would
  /// sort otherwise: then the bits are the same.
  bool is_small(Offset rows, Offset cols, Offset a_nnz, Offset inner, Offset b_nnz) const {
    return prefers_one_pass && shrink == 1 && most_sorted_to_make >= kMostOfSmallRow &&
           rows < fewest_merged_rows && rows <= most_small_rows && cols <= kMostColumnsOfAWarp &&
           a_nnz > 0 && a_nnz <= kMostOfSmall && b_nnz > 0 && b_nnz <= kLengthOfSmall * inner;
  }

  CSRKIT_HOST_DEVICE bool merges(const RowFacts& row) const {
    return prefers_merging && row.is_like_neighbour && row.sources <= 8 &&
           row.products <= kMostMerged / shrink;
  }

  /// Whether it matters for a row of so many products where its columns begin and end: for bit
  /// ranges, and for sorting where B is too wide. Finding out costs two reads of B per entry of A.
  CSRKIT_HOST_DEVICE bool needs_range(unsigned long long products) const {
    return products > kMostSortedByWarp / shrink || most_sorted_to_count < kMostSortedByWarp ||
           is_wide;
  }

  /// Which of the bins for sorting has room for a row; its column and the number of a product
  /// share 32 bits.
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

  /// Whether a warp makes a row of `entries` together with its twins: they must have room, half of
  /// kMostTwins at a time, and go through rows of B one after another. Twins agree on it.
  CSRKIT_HOST_DEVICE bool makes_twins(const RowFacts& row, std::uint32_t entries,
                                      std::uint32_t twins) const {
    return twins > 0 && most_of_a_team == 0 && row.products <= most_of_a_warp / shrink &&
           Offset{row.products} >= row.sources * kShortSources &&
           of_twins(row, entries, kMostTwins / 2) <= kBitRange14k / shrink;
  }
  /// Bytes of so many rows made at a time.
  CSRKIT_HOST_DEVICE std::uint64_t of_twins(const RowFacts& row, std::uint32_t entries,
                                            int at_once) const {
    return std::uint64_t{row.words} * kTableEntryBytes +
           std::uint64_t{entries} * static_cast<unsigned>(at_once * value_bytes);
  }

  /// `entries` is what was counted, `counted` where; `twins`: how many other rows of A are
  /// known to have its columns.
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
    if (sorts_in_warp || (size >= 0 && !suits_bit_range(row))) {
      return static_cast<MakeBin>(static_cast<int>(MakeBin::sort_16) + size);
    }
    if (row.products <= 1024 && size < 0) {  // few lanes go through them
      if (entries <= 32 / shrink) return MakeBin::hash_64;
      if (entries <= 64 / shrink) return MakeBin::hash_128;
    }
    if (suits_bit_range(row)) {
      const std::uint64_t of_words = std::uint64_t{row.words} * kTableEntryBytes;
      const std::uint64_t of_sums = std::uint64_t{entries} * static_cast<unsigned>(value_bytes);
      const std::uint64_t bytes = of_words + of_sums;
      if (most_of_a_team > 0 && row.products > kMostSortedByWarp / shrink) {
        const std::uint64_t team = of_team(row, entries);
        // A large team leaves room for few others. Where hardly a column comes twice, sorting is
        // as little work.
        const bool is_scattered = size >= 0 && team > kTeamBitRange48k / shrink &&
                                  Offset{entries} * 8 >= Offset{row.products} * 7;
        if (team <= most_of_a_team / shrink && !is_scattered) {
          return team <= kTeamBitRange12k / shrink   ? MakeBin::bit_range_team_12k
                 : team <= kTeamBitRange24k / shrink ? MakeBin::bit_range_team_24k
                 : team <= kTeamBitRange48k / shrink ? MakeBin::bit_range_team_48k
                                                     : MakeBin::bit_range_team_96k;
        }
        if (size >= 0) return static_cast<MakeBin>(static_cast<int>(MakeBin::sort_16) + size);
      } else if (row.products <= most_of_a_warp / shrink) {
        std::uint64_t of_warp = bytes;
        if (makes_twins(row, entries, twins)) {
          of_warp = of_twins(row, entries, kMostTwins);
          if (twins < kMostTwins / 2 || of_warp > kBitRange14k / shrink) {
            of_warp = of_twins(row, entries, kMostTwins / 2);
          }
        }
        if (of_warp <= kBitRange3k / shrink) return MakeBin::bit_range_3k;
        if (of_warp <= kBitRange6k / shrink) return MakeBin::bit_range_6k;
        if (of_warp <= kBitRange8k / shrink) return MakeBin::bit_range_8k;
        if (of_warp <= kBitRange10k / shrink) return MakeBin::bit_range_10k;
        if (of_warp <= kBitRange14k / shrink) return MakeBin::bit_range_14k;
      }
      return bytes <= kBlockBitRangeBytes / shrink ? MakeBin::bit_range_block
                                                   : MakeBin::bit_range_whole;
    }
    if (entries <= 128 / shrink) return MakeBin::hash_256;
    if (entries <= 256 / shrink) return MakeBin::hash_512;
    if (entries <= 512 / shrink) return MakeBin::hash_1024;
    if (entries <= 2048 / shrink) return MakeBin::hash_4096;
    return MakeBin::hash_16384;
  }
};

}  // namespace csrkit::gpu
