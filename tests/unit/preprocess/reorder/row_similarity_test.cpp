#include <gtest/gtest.h>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

std::vector<Index> row_similarity(const CsrMatrix& matrix, std::uint64_t seed = 1) {
  ReorderOptions options;
  options.seed = seed;
  const Permutation order = make_ordering("row-similarity", matrix, options).order;
  return {order.old_of_new(), order.old_of_new() + order.size()};
}

TEST(RowSimilarity, EqualRowsBecomeNeighboursForAnySeed) {
  // 40 kinds of rows with 5 columns each out of 1000, 9 rows of each, dealt out in turn.
  test::Entries entries;
  for (Index row = 0; row < 360; ++row) {
    RandomStream columns(77, static_cast<std::uint64_t>(row % 40));
    for (int c = 0; c < 5; ++c) entries.emplace_back(row, static_cast<Index>(columns.below(1000)));
  }
  const CsrMatrix matrix = test::pattern_of(360, 1000, std::move(entries));
  for (const std::uint64_t seed : {0u, 1u, 2u, 99u}) {
    const std::vector<Index> order = row_similarity(matrix, seed);
    for (std::size_t place = 0; place < 360; ++place) {
      EXPECT_EQ(order[place] % 40, order[place / 9 * 9] % 40) << place;
    }
  }
}

TEST(RowSimilarity, SimilarRowsAreMostlyGathered) {
  // 50 groups of 20 rows; a row has 12 of its group's 16 columns. Half of all neighbours at least
  // belong to one group; in the order given none do.
  test::Entries entries;
  RandomStream random(5);
  for (Index row = 0; row < 1000; ++row) {
    for (Index c = 0; c < 16; ++c) {
      if (random.below(4) > 0) entries.emplace_back(row, row % 50 * 16 + c);
    }
  }
  const std::vector<Index> order = row_similarity(test::pattern_of(1000, 800, std::move(entries)));
  int together = 0;
  for (std::size_t place = 1; place < 1000; ++place) {
    together += order[place] % 50 == order[place - 1] % 50;
  }
  EXPECT_GT(together, 800);
}

TEST(RowSimilarity, EmptyRowsComeLastInTheirOrder) {
  const std::vector<Index> order = row_similarity(test::pattern_of(6, 3, {{1, 0}, {4, 0}}));
  EXPECT_EQ(order, (std::vector<Index>{1, 4, 0, 2, 3, 5}));
}

}  // namespace
}  // namespace csrkit
