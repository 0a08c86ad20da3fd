#include "preprocess/reorder/snowball.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit::reorder {
namespace {

/// Cliques of ten vertices i, i + n / 10, ...: neighbours have far ids.
CsrMatrix scattered_cliques(Index n) {
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < 10; ++k)
      rows[static_cast<std::size_t>(i)].insert(i % (n / 10) + k * (n / 10));
  }
  return pattern_of(n, rows);
}

TEST(Snowball, ASmallMatrixIsItsOwnSample) {
  const CsrMatrix a = scattered_cliques(100);
  const Snowball sample = snowball(a, a.nnz(), 1);
  EXPECT_TRUE(sample.is_whole);
  EXPECT_EQ(sample.matrix.nnz(), a.nnz());
  EXPECT_TRUE(snowball(CsrMatrix(), 0, 1).is_whole);
}

TEST(Snowball, KeepsNeighbourhoodsTogether) {
  const CsrMatrix a = scattered_cliques(10000);
  const Snowball sample = snowball(a, 5000, 1);
  EXPECT_FALSE(sample.is_whole);
  EXPECT_EQ(sample.matrix.rows(), sample.matrix.cols());
  EXPECT_NEAR(static_cast<double>(sample.matrix.rows()), 500, 60);
  EXPECT_NEAR(sample.entry_share, 0.05, 0.006);
  // Whole cliques but for the last of each ball; a random set of rows would keep 5 %.
  EXPECT_GT(sample.inside_share, 0.8);
  validate(sample.matrix, "sample");
  const Snowball again = snowball(a, 5000, 1), other = snowball(a, 5000, 2);
  EXPECT_EQ(again.matrix.nnz(), sample.matrix.nnz());
  EXPECT_TRUE(std::equal(again.matrix.col_indices(),
                         again.matrix.col_indices() + again.matrix.nnz(),
                         sample.matrix.col_indices()));
  EXPECT_GT(other.inside_share, 0.8);
}

TEST(Snowball, DoesNotFollowHubs) {
  // A star with a ring: through the hub everything is near, along the ring nothing is.
  std::vector<std::set<Index>> rows(5000);
  for (Index i = 1; i < 5000; ++i) {
    rows[static_cast<std::size_t>(i)] = {0, i == 1 ? 4999 : i - 1, i == 4999 ? 1 : i + 1};
    rows[0].insert(i);
  }
  const CsrMatrix a = pattern_of(5000, rows);
  const Snowball sample = snowball(a, 2000, 3);
  EXPECT_LT(sample.matrix.nnz(), 4000);
  // A quarter of the entries are the hub's own, which no order serves.
  EXPECT_GT(sample.inside_share, 0.6);
  EXPECT_LT(sample.inside_share, 0.76);
}

TEST(Snowball, RectangularRowsKeepEveryColumn) {
  std::vector<std::set<Index>> rows(3000);
  for (Index i = 0; i < 3000; ++i) {
    for (Index k = 0; k < 5; ++k) rows[static_cast<std::size_t>(i)].insert((i % 300) * 5 + k);
  }
  const CsrMatrix a = pattern_of(1600, rows);
  const Snowball sample = snowball(a, 1000, 1);
  EXPECT_EQ(sample.matrix.nnz(), Offset{sample.matrix.rows()} * 5);
  EXPECT_LT(sample.matrix.rows(), 300);
  EXPECT_LT(sample.matrix.cols(), 200);
  EXPECT_EQ(sample.inside_share, 1);
  validate(sample.matrix, "sample");
}

TEST(Snowball, EmptyRowsEndTheSearch) {
  std::vector<std::set<Index>> rows(1000);
  rows[7] = {1, 2, 3};
  const Snowball sample = snowball(pattern_of(1000, rows), 2, 1);
  EXPECT_LE(sample.matrix.nnz(), 3);
  EXPECT_LE(sample.entry_share, 1);
}

}  // namespace
}  // namespace csrkit::reorder
