#include "preprocess/reorder/parts/partition_borders.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

Partition partition_of(Index parts, const std::vector<Index>& part_of_row) {
  return {parts, std::make_shared<Buffer<Index>>(Buffer<Index>::copy_of(
                     part_of_row.data(), static_cast<Offset>(part_of_row.size())))};
}

std::vector<Offset> borders(const CsrMatrix& matrix, const Partition& partition) {
  const Buffer<Offset> found = partition_borders(matrix, partition);
  return {found.begin(), found.end()};
}

TEST(PartitionBorders, ByHand) {
  // Parts {0, 3} and {1, 2}. Across: (0, 1), (0, 2), (3, 1), (2, 0); rows of part 0 read columns 1
  // and 2 of the other, those of part 1 read column 0.
  const CsrMatrix matrix =
      test::pattern_of(4, 4, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 0}, {3, 1}});
  EXPECT_EQ(borders(matrix, partition_of(2, {0, 1, 1, 0})), (std::vector<Offset>{4, 2, 1}));
}

TEST(PartitionBorders, OnePartHasNoneAndEmptyPartsHaveNone) {
  const CsrMatrix matrix = test::grid(4, 4);
  EXPECT_EQ(borders(matrix, partition_of(1, std::vector<Index>(16, 0))),
            (std::vector<Offset>{0, 0}));
  EXPECT_EQ(borders(matrix, partition_of(3, std::vector<Index>(16, 1))),
            (std::vector<Offset>{0, 0, 0, 0}));
  EXPECT_EQ(borders(test::pattern_of(0, 0, {}), partition_of(0, {})), (std::vector<Offset>{0}));
}

TEST(PartitionBorders, AsSetsSayOnARandomGraph) {
  const CsrMatrix matrix = test::power_law(300, 3000, 9);
  std::vector<Index> part;
  for (Index row = 0; row < 300; ++row) part.push_back((row * 7) % 11);
  std::vector<std::set<Index>> halo(11);
  Offset cut = 0;
  for (Index row = 0; row < 300; ++row) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = matrix.col_indices()[at];
      const auto p = static_cast<std::size_t>(part[static_cast<std::size_t>(row)]);
      if (part[static_cast<std::size_t>(col)] == static_cast<Index>(p)) continue;
      ++cut;
      halo[p].insert(col);
    }
  }
  std::vector<Offset> expected{cut};
  for (const auto& columns : halo) expected.push_back(static_cast<Offset>(columns.size()));
  EXPECT_EQ(borders(matrix, partition_of(11, part)), expected);
}

TEST(PartitionModularity, ByHand) {
  // Two triangles and an edge between: 12 of 14 entries within, 7 of 14 ends in each part.
  const CsrMatrix two =
      test::undirected(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}});
  EXPECT_NEAR(partition_modularity(two, partition_of(2, {0, 0, 0, 1, 1, 1})), 12.0 / 14 - 0.5,
              1e-15);
  EXPECT_NEAR(partition_modularity(two, partition_of(1, {0, 0, 0, 0, 0, 0})), 0, 1e-15);
  EXPECT_LT(partition_modularity(two, partition_of(2, {0, 1, 0, 1, 0, 1})), 0);
  // The diagonal does not count, the direction does not matter.
  const CsrMatrix directed = test::pattern_of(3, 3, {{0, 0}, {0, 1}, {2, 2}, {1, 0}, {1, 2}});
  EXPECT_NEAR(partition_modularity(directed, partition_of(2, {0, 0, 1})), 2.0 / 3 - (25.0 + 1) / 36,
              1e-15);
  EXPECT_EQ(partition_modularity(test::pattern_of(2, 2, {{1, 1}}), partition_of(1, {0, 0})), 0);
}

TEST(PartitionBorders, Balance) {
  EXPECT_EQ(partition_balance(partition_of(2, {0, 1, 1, 0})), 1);
  EXPECT_EQ(partition_balance(partition_of(2, {1, 1, 1, 0})), 1.5);
  EXPECT_EQ(partition_balance(partition_of(3, {1, 1, 1})), 3);
  EXPECT_EQ(partition_balance(partition_of(3, {})), 0);
}

}  // namespace
}  // namespace csrkit
