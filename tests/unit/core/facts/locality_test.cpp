#include "core/facts/locality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(LocalityProfile, ByHand) {
  // Distances 0, 3, 1: bandwidth 3, mean (0 + 3 + 1) / 3 over 4 columns; all in one tile.
  const LocalityProfile p = locality_profile(pattern_of(4, {{0, 3}, {0}}));
  EXPECT_EQ(p.bandwidth, 3);
  EXPECT_DOUBLE_EQ(p.mean_distance, 4.0 / 3 / 4);
  EXPECT_DOUBLE_EQ(p.entries_per_touched_tile, 3);
}

TEST(LocalityProfile, CountsTilesAcrossTheirBorders) {
  std::vector<std::vector<Index>> rows(33);
  rows[0] = {31, 32};   // tiles (0, 0) and (0, 1)
  rows[31] = {0, 63};   // the same two
  rows[32] = {31, 64};  // tiles (1, 0) and (1, 2)
  const LocalityProfile p = locality_profile(pattern_of(65, rows));
  EXPECT_DOUBLE_EQ(p.entries_per_touched_tile, 6.0 / 4);
  EXPECT_EQ(p.bandwidth, 32);
}

TEST(LocalityProfile, NothingAtAll) {
  EXPECT_EQ(locality_profile(CsrMatrix()).bandwidth, 0);
  EXPECT_EQ(locality_profile(pattern_of(0, {{}, {}})).entries_per_touched_tile, 0);
}

/// The same numbers from sets.
LocalityProfile brute_force(const CsrMatrix& a) {
  LocalityProfile p;
  std::set<std::pair<Index, Index>> tiles, eights, sixteens, windows;
  double distances = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
      const Index col = a.col_indices()[at];
      p.bandwidth = std::max(p.bandwidth, std::abs(row - col));
      distances += std::abs(row - col);
      tiles.emplace(row / 32, col / 32);
      eights.emplace(row / 8, col);
      sixteens.emplace(row / 16, col);
      windows.emplace(row / 64, col);
    }
    if (a.row_length(row) > 0) {
      p.envelope += std::max(0, row - a.col_indices()[a.row_offsets()[row]]);
    }
  }
  if (a.nnz() == 0) return p;
  const auto nnz = static_cast<double>(a.nnz());
  p.mean_distance = distances / nnz / std::max(a.rows(), a.cols());
  p.entries_per_touched_tile = nnz / static_cast<double>(tiles.size());
  p.entries_per_vector_of_8 = nnz / static_cast<double>(eights.size());
  p.entries_per_vector_of_16 = nnz / static_cast<double>(sixteens.size());
  p.distinct_cols_per_window = static_cast<double>(windows.size()) / ((a.rows() + 63) / 64);
  p.entries_per_window_column = nnz / static_cast<double>(windows.size());
  return p;
}

TEST(LocalityProfile, EqualsBruteForce) {
  for (const auto& [name, a] : pattern_battery()) {
    SCOPED_TRACE(name);
    const LocalityProfile found = locality_profile(a), expected = brute_force(a);
    EXPECT_EQ(found.bandwidth, expected.bandwidth);
    EXPECT_EQ(found.envelope, expected.envelope);
    EXPECT_DOUBLE_EQ(found.mean_distance, expected.mean_distance);
    EXPECT_DOUBLE_EQ(found.entries_per_touched_tile, expected.entries_per_touched_tile);
    EXPECT_DOUBLE_EQ(found.entries_per_vector_of_8, expected.entries_per_vector_of_8);
    EXPECT_DOUBLE_EQ(found.entries_per_vector_of_16, expected.entries_per_vector_of_16);
    EXPECT_DOUBLE_EQ(found.distinct_cols_per_window, expected.distinct_cols_per_window);
    EXPECT_DOUBLE_EQ(found.entries_per_window_column, expected.entries_per_window_column);
  }
}

// More threads than entries in a column take no more memory, and none more than the entries.
TEST(LocalityProfile, ItsMemoryDoesNotGrowWithoutEnd) {
  for (const auto& [cols, nnz] : std::vector<std::pair<Index, Offset>>{
           {1000, 100000}, {1000, 2500}, {1000, 1000}, {1000000, 1000}, {10, 1}}) {
    SCOPED_TRACE(std::to_string(cols) + " columns, " + std::to_string(nnz) + " entries");
    const auto most = static_cast<std::uint64_t>(nnz) * 5 * sizeof(Index) + 64;
    EXPECT_LE(locality_bytes(cols, nnz, 1), most);
    EXPECT_LE(locality_bytes(cols, nnz, 4096), most);
  }
  EXPECT_EQ(locality_bytes(1000, 2500, 4096), locality_bytes(1000, 2500, 2));
  EXPECT_GT(locality_bytes(1000, 2500, 2), locality_bytes(1000, 2500, 1));
  EXPECT_EQ(locality_bytes(0, 0, 8), locality_bytes(0, 0, 1));
}

TEST(LocalityProfile, FullBlocksFillTheirVectors) {
  std::vector<std::vector<Index>> rows(64);
  for (std::vector<Index>& row : rows) row = {3, 40};
  const LocalityProfile p = locality_profile(pattern_of(50, rows));
  EXPECT_DOUBLE_EQ(p.entries_per_vector_of_8, 8);
  EXPECT_DOUBLE_EQ(p.entries_per_vector_of_16, 16);
  EXPECT_DOUBLE_EQ(p.entries_per_touched_tile, 32);
  EXPECT_DOUBLE_EQ(p.distinct_cols_per_window, 2);
  EXPECT_DOUBLE_EQ(p.entries_per_window_column, 64);
  // Row i begins at column 3: the envelope is the sum of i - 3 for i from 4 to 63.
  EXPECT_EQ(p.envelope, 60 * 61 / 2);
}

}  // namespace
}  // namespace csrkit
