#include <gtest/gtest.h>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

Permutation by_degree(const CsrMatrix& matrix, bool descending) {
  ReorderOptions options;
  if (descending) options.parameters["descending"] = "yes";
  return make_ordering("degree", matrix, options).order;
}

std::vector<Index> old_rows(const Permutation& order) {
  return {order.old_of_new(), order.old_of_new() + order.size()};
}

TEST(Degree, SortsStablyBothWays) {
  // Lengths 2, 0, 1, 2, 0, 3.
  const CsrMatrix matrix =
      test::pattern_of(6, 4, {{0, 0}, {0, 3}, {2, 1}, {3, 1}, {3, 2}, {5, 0}, {5, 1}, {5, 2}});
  EXPECT_EQ(old_rows(by_degree(matrix, false)), (std::vector<Index>{1, 4, 2, 0, 3, 5}));
  EXPECT_EQ(old_rows(by_degree(matrix, true)), (std::vector<Index>{5, 0, 3, 2, 1, 4}));
}

TEST(Degree, RowLengthsReallyAscendAndWithTheInverseTheyWouldNot) {
  const CsrMatrix matrix = test::power_law(500, 4000, 3);
  const auto ascends = [](const CsrMatrix& m) {
    for (Index row = 1; row < m.rows(); ++row) {
      if (m.row_length(row) < m.row_length(row - 1)) return false;
    }
    return true;
  };
  const Permutation order = by_degree(matrix, false);
  EXPECT_TRUE(ascends(permute_rows(matrix, order)));
  EXPECT_FALSE(ascends(permute_rows(matrix, order.inverse())));
}

TEST(Degree, RowsLongerThanOneDigitOfTheSort) {
  // 70000 needs the second pass; its low digit (4464) would come before 5000.
  test::Entries entries;
  for (Index col = 0; col < 70000; ++col) entries.emplace_back(0, col);
  for (Index col = 0; col < 5000; ++col) entries.emplace_back(1, col);
  entries.emplace_back(3, 7);
  const CsrMatrix matrix = test::pattern_of(4, 70000, std::move(entries));
  EXPECT_EQ(old_rows(by_degree(matrix, false)), (std::vector<Index>{2, 3, 1, 0}));
  EXPECT_EQ(old_rows(by_degree(matrix, true)), (std::vector<Index>{0, 1, 3, 2}));
}

TEST(Degree, BinsKeepTheOrderOfRowsOfLikeLength) {
  // Lengths 3, 0, 2, 5, 1, 4, 0: bins 2, 0, 2, 3, 1, 3, 0.
  test::Entries entries;
  const std::vector<Index> lengths{3, 0, 2, 5, 1, 4, 0};
  for (Index row = 0; row < 7; ++row) {
    for (Index col = 0; col < lengths[static_cast<std::size_t>(row)]; ++col) {
      entries.emplace_back(row, col);
    }
  }
  const CsrMatrix matrix = test::pattern_of(7, 5, std::move(entries));
  ReorderOptions options;
  options.parameters["binned"] = "yes";
  EXPECT_EQ(old_rows(make_ordering("degree", matrix, options).order),
            (std::vector<Index>{1, 6, 4, 0, 2, 3, 5}));
  options.parameters["descending"] = "yes";
  EXPECT_EQ(old_rows(make_ordering("degree", matrix, options).order),
            (std::vector<Index>{3, 5, 0, 2, 4, 1, 6}));
}

}  // namespace
}  // namespace csrkit
