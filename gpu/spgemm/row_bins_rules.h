// Which row of C is made how: the rules of row_bins, and every number in them.
#pragma once

#include <cstdint>

#include "core/types.h"

#ifdef __CUDACC__
#define CSRKIT_HOST_DEVICE __host__ __device__
#else
#define CSRKIT_HOST_DEVICE
#endif

namespace csrkit::gpu {

/// How the entries of a row are counted. Bins with longer rows have higher numbers.
enum class CountBin : std::uint8_t {
  done,     // empty, or a copy of one row of B: the profile knows
  merge_4,  // of at most so many rows of B, and short: a thread per row
  merge_8,
  hash_64,  // tables of so many slots, a slot for 32 columns
  hash_256,
  window_warp,  // a bit per column between the row's first and last
  hash_1024,
  hash_4096,
  hash_16384,
  window_block,
  parts,  // the same, cut into parts of as many columns as a block can hold
  count
};

/// How the entries of a row are made. `sums` of a window stand beside its bits in shared memory.
enum class MakeBin : std::uint8_t {
  done,  // empty, or in CountBin::parts: made in the same parts
  copy,
  merge_4,
  merge_8,
  hash_64,  // tables of so many slots, a slot per column, at most half of them used
  hash_128,
  hash_256,
  hash_1024,
  hash_4096,
  hash_16384,
  window_small,  // by bytes of a warp's shared memory
  window_medium,
  window_large,
  window_block,
  window_whole,  // all of the shared memory; sums in C itself if that is not enough
  count
};

inline constexpr int kMostBins = 32;
static_assert(static_cast<int>(CountBin::count) <= kMostBins);
static_assert(static_cast<int>(MakeBin::count) <= kMostBins);

/// Columns stand in words of 32, one bit each.
inline constexpr int kWordLog2 = 5;

/// Bytes of shared memory of one row, and words of a window.
inline constexpr int kSmallWindowBytes = 3 * 1024;
inline constexpr int kMediumWindowBytes = 6 * 1024;
inline constexpr int kLargeWindowBytes = 14 * 1024;
inline constexpr int kBlockWindowBytes = 48 * 1024;
inline constexpr int kWarpWindowWords = 1024;
inline constexpr int kBlockWindowWords = 4096;
inline constexpr int kTableEntryBytes = 8;  // a word's bits, and how many entries stand before it

inline constexpr int kLargestTableBytes = 222 * 1024;  // hash_16384 with values of 8 bytes

/// Products of a row that one thread makes.
inline constexpr std::uint32_t kMostMerged = 64;

/// Bounds for forecasts: rows of fewer products are never cut, parts never narrower (in words),
/// unless a test shrinks both.
inline constexpr std::uint32_t kFewestCutProducts = 2048;
inline constexpr std::uint32_t kNarrowestPart = 4096;

/// What the rules know of a row.
struct RowFacts {
  std::uint32_t products = 0;  // 2^32 - 1 stands for that and more
  std::uint32_t words = 0;     // from the row's first possible column to its last
  Offset sources = 0;          // entries in the row of A
};

/// Limits that depend on the device, or that a test lowers to reach every bin with small matrices.
struct BinRules {
  int value_bytes = 4;
  int whole_window_bytes = 84 * 1024;  // two blocks on a multiprocessor of 227 KiB, the rest of a
                                       // block's memory is static
  std::uint32_t part_words = 8192;     // of a window that is cut
  std::uint32_t most_hashed = 8192;    // products, and so entries, of a row in a hash table
  /// Products that one warp goes through alone.
  std::uint32_t most_of_a_warp = 65536;
  /// Divides every limit on a row's length. 1 but in tests.
  std::uint32_t shrink = 1;
  bool prefers_merging = true;
  bool prefers_windows = true;  // where the window is no wider than the row has products

  CSRKIT_HOST_DEVICE bool suits_window(const RowFacts& row) const {
    return prefers_windows && row.words <= row.products && row.words <= kBlockWindowWords;
  }

  CSRKIT_HOST_DEVICE bool merges(const RowFacts& row) const {
    return prefers_merging && row.sources <= 8 && row.products <= kMostMerged / shrink;
  }

  CSRKIT_HOST_DEVICE CountBin count_bin(const RowFacts& row) const {
    const std::uint32_t length = row.products;
    if (length == 0 || row.sources == 1) return CountBin::done;
    if (merges(row)) return row.sources <= 4 ? CountBin::merge_4 : CountBin::merge_8;
    if (length <= 32 / shrink) return CountBin::hash_64;
    if (length <= 128 / shrink && row.words > 32) return CountBin::hash_256;
    if (suits_window(row)) {
      return row.words <= kWarpWindowWords && length <= most_of_a_warp / shrink
                 ? CountBin::window_warp
                 : CountBin::window_block;
    }
    if (length <= 512 / shrink) return CountBin::hash_1024;
    if (length <= 2048 / shrink) return CountBin::hash_4096;
    if (length <= most_hashed / shrink) return CountBin::hash_16384;
    return CountBin::parts;
  }

  /// `entries` is what was counted, `counted` where.
  CSRKIT_HOST_DEVICE MakeBin make_bin(const RowFacts& row, std::uint32_t entries,
                                      CountBin counted) const {
    if (entries == 0 || counted == CountBin::parts) return MakeBin::done;
    if (row.sources == 1) return MakeBin::copy;
    if (merges(row)) return row.sources <= 4 ? MakeBin::merge_4 : MakeBin::merge_8;
    if (entries <= 32 / shrink) return MakeBin::hash_64;
    if (entries <= 64 / shrink && row.products <= 1024) return MakeBin::hash_128;
    const std::uint64_t bytes = std::uint64_t{row.words} * kTableEntryBytes +
                                std::uint64_t{entries} * static_cast<unsigned>(value_bytes);
    if (suits_window(row)) {
      if (row.products <= most_of_a_warp / shrink) {
        if (bytes <= kSmallWindowBytes / shrink) return MakeBin::window_small;
        if (bytes <= kMediumWindowBytes / shrink) return MakeBin::window_medium;
        if (bytes <= kLargeWindowBytes / shrink) return MakeBin::window_large;
      }
      return bytes <= kBlockWindowBytes / shrink ? MakeBin::window_block : MakeBin::window_whole;
    }
    if (entries <= 128 / shrink) return MakeBin::hash_256;
    if (entries <= 512 / shrink) return MakeBin::hash_1024;
    if (entries <= 2048 / shrink) return MakeBin::hash_4096;
    return MakeBin::hash_16384;
  }
};

}  // namespace csrkit::gpu
