#include "core/facts/column_sample.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

constexpr Index kRows = 1000, kCols = 4003;

/// Columns 0 to 2 are in every row, 3 is in none, and each of the others is in one row.
CsrMatrix with_hubs() {
  std::vector<std::vector<Index>> rows(kRows, {0, 1, 2});
  for (Index col = 4; col < kCols; ++col)
    rows[static_cast<std::size_t>(col % kRows)].push_back(col);
  return pattern_of(kCols, rows);
}

TEST(ColumnSample, IsAllColumnsOfASmallMatrix) {
  const CsrMatrix a = with_hubs();
  const ColumnSample all = column_sample(a, a.nnz(), 100, 1);
  EXPECT_TRUE(all.is_everything);
  EXPECT_EQ(all.count, kCols);
  EXPECT_EQ(all.always, kCols);
  EXPECT_EQ(all.of(17), 17);
}

TEST(ColumnSample, TakesHubsWholeAndAShareOfTheOthers) {
  const CsrMatrix a = with_hubs();
  const ColumnSample sample = column_sample(a, a.nnz() - 1, a.nnz() / 10, 1);
  EXPECT_FALSE(sample.is_everything);
  EXPECT_EQ(sample.always, 3);
  for (const Index hub : {0, 1, 2}) EXPECT_LT(sample.of(hub), sample.always);
  EXPECT_EQ(sample.of(3), ColumnSample::kLeftOut) << "nothing reads it";
  const double others = kCols - 4;
  const double taken = sample.count - sample.always;
  EXPECT_NEAR(taken, others / 10, 1);
  EXPECT_DOUBLE_EQ(sample.scale, others / taken);
}

TEST(ColumnSample, NumbersItsItemsInTheOrderOfColumns) {
  const CsrMatrix a = with_hubs();
  const ColumnSample sample = column_sample(a, 0, a.nnz() / 5, 2);
  Index next = sample.always;
  for (Index col = 3; col < kCols; ++col) {
    if (sample.of(col) == ColumnSample::kLeftOut) continue;
    EXPECT_EQ(sample.of(col), next++);
  }
  EXPECT_EQ(next, sample.count);
}

TEST(ColumnSample, AnotherSeedTakesOthers) {
  const CsrMatrix a = with_hubs();
  const auto taken = [&](std::uint64_t seed) {
    const ColumnSample sample = column_sample(a, 0, a.nnz() / 10, seed);
    return std::vector<Index>(sample.item_of_col.begin(), sample.item_of_col.end());
  };
  EXPECT_EQ(taken(1), taken(1));
  EXPECT_NE(taken(1), taken(2));
}

}  // namespace
}  // namespace csrkit
