// The bins of rows of C: how a row is counted and how it is made, and the memory that it gets.
#pragma once

#include <cstdint>

#include "core/base/types.h"
#include "core/contract/semiring.h"  // CSRKIT_HOST_DEVICE

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
  bit_range_large_team,  // by sixteen, eight or four warps, with up to 192 KiB
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
inline constexpr int kLargeTeamBitRange = 192 * 1024;  // at most
inline constexpr int kWarpsOfATeam = 4, kMostWarpsOfATeam = 16;

/// Bytes of shared memory for each row of a bin; 0: the bin has none, or its rows decide (large
/// teams and blocks).
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

/// The facts about a row that choose its bins.
struct RowFacts {
  std::uint32_t products = 0;      // 2^32 - 1: so many or more
  std::uint32_t words = 0;         // from the row's first possible column to its last
  Offset sources = 0;              // entries in the row of A
  bool is_like_neighbour = false;  // sources are as many as those of the row before, and near them
};

}  // namespace csrkit::gpu
