// How the products of a row are added up in shared memory: in which way, and in how many bytes.
#pragma once

#include "gpu/spgemm/adaptive_rows/rules/bins.h"

namespace csrkit::gpu {

/// Rows of B that are shorter than this on average are packed into the lanes of a warp.
inline constexpr Offset kShortSources = 12;

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

/// Bytes of shared memory for the words of a row and so many sets of its sums.
inline CSRKIT_HOST_DEVICE std::uint64_t bytes_of_sums(std::uint32_t words, std::uint64_t entries,
                                                      int sets, int value_bytes) {
  return std::uint64_t{words} * kTableEntryBytes +
         entries * static_cast<unsigned>(sets * value_bytes);
}

/// Warps of a large team: as many as have room for their sums, but no fewer than of other teams.
/// They depend on the row alone, so its sums are added up in the same order whatever rows are
/// beside it.
inline CSRKIT_HOST_DEVICE int warps_of_large_team(std::uint32_t words, std::uint32_t entries,
                                                  int value_bytes, std::uint64_t room) {
  int warps = kMostWarpsOfATeam;
  while (warps > kWarpsOfATeam && bytes_of_sums(words, entries, warps, value_bytes) > room) {
    warps /= 2;
  }
  return warps;
}

/// How a block adds up the products of a row.
enum class BlockSums : std::uint8_t {
  claims,  // in any order, which is mended at the end (claimed_sums.cuh)
  shares,  // each warp those of a share of the columns
  turns    // all warps source by source, or with bids for their turns (row_sums.cuh)
};
/// Bytes of shared memory for bids.
inline constexpr int kBidBytes = 16 * 1024;

/// At most a third of the products may be repeats, and numbers of places, sources and repeats
/// must fit 16 bits.
inline CSRKIT_HOST_DEVICE bool suits_claims(const RowFacts& row, std::uint32_t entries) {
  constexpr std::uint32_t kMost = 0xffff;
  return Offset{entries} * 3 >= Offset{row.products} * 2 && row.products <= kMost &&
         row.sources <= kMost;
}
/// Bytes of shared memory: words, sums, three bits and a source for each place, and repeats with
/// their terms. Places are rounded up to whole words.
inline CSRKIT_HOST_DEVICE std::uint64_t bytes_of_claims(const RowFacts& row, std::uint32_t entries,
                                                        std::uint32_t value_bytes) {
  const std::uint64_t places = (std::uint64_t{entries} + 31) / 32 * 32;
  const std::uint64_t repeats = row.products - entries;
  return std::uint64_t{row.words} * kTableEntryBytes + places * (value_bytes + 2) + places / 8 * 3 +
         repeats * (8 + value_bytes);
}
/// Whether each warp finds `fewest` products or more of its share in every source, on average.
/// Where columns come very often, a few mostly come far more often than the rest, and one warp
/// has most of the work.
inline CSRKIT_HOST_DEVICE bool suits_shares(const RowFacts& row, std::uint32_t entries, int threads,
                                            Offset fewest) {
  constexpr Offset kMostOfAnEntry = 4;
  return Offset{row.products} >= row.sources * (threads / 32) * fewest &&
         Offset{row.products} <= kMostOfAnEntry * entries;
}
/// Whether a block that takes turns has products of several sources at once. Measured on an H200.
inline CSRKIT_HOST_DEVICE bool packs_in_block(const RowFacts& row, int threads) {
  return row.products < 0x7fffffffu && Offset{row.products} < row.sources * (threads * 2 / 5);
}
/// Measured on an H200 (docs/lab/2026-11-29-spgemm-block-sums.md).
inline CSRKIT_HOST_DEVICE BlockSums block_sums(const RowFacts& row, std::uint32_t entries,
                                               int threads, std::uint32_t value_bytes,
                                               std::uint64_t room) {
  constexpr Offset kMany = kShortSources, kFewest = 6;  // from kMany on walks are not packed
  if (suits_shares(row, entries, threads, kMany)) return BlockSums::shares;
  if (suits_claims(row, entries) && bytes_of_claims(row, entries, value_bytes) <= room) {
    return BlockSums::claims;
  }
  return suits_shares(row, entries, threads, kFewest) ? BlockSums::shares : BlockSums::turns;
}

}  // namespace csrkit::gpu
