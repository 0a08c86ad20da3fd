#include <gtest/gtest.h>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

std::vector<Index> gorder(const CsrMatrix& matrix) {
  const Permutation order = make_ordering("gorder", matrix).order;
  return {order.old_of_new(), order.old_of_new() + order.size()};
}

TEST(Gorder, ByHand) {
  // Row 0 has the columns 0 1 2. Row 3 shares two of them, rows 1 and 4 one each. After 0 and 3 row
  // 4 has two in common with the window (1 with each), row 1 one. Row 2 shares nothing.
  const CsrMatrix matrix = test::pattern_of(
      5, 9, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 8}, {2, 7}, {3, 1}, {3, 2}, {4, 2}});
  EXPECT_EQ(gorder(matrix), (std::vector<Index>{0, 3, 4, 1, 2}));
}

TEST(Gorder, GroupsOfRowsThatShareColumnsAreGathered) {
  // 30 groups of 6 rows with 4 columns of their own; rows dealt out in turn.
  test::Entries entries;
  for (Index row = 0; row < 180; ++row) {
    for (Index c = 0; c < 4; ++c) entries.emplace_back(row, row % 30 * 4 + c);
  }
  const std::vector<Index> order = gorder(test::pattern_of(180, 120, std::move(entries)));
  for (std::size_t place = 0; place < 180; ++place) {
    EXPECT_EQ(order[place] % 30, order[place / 6 * 6] % 30) << place;
  }
}

TEST(Gorder, WithoutSharedColumnsRowsStay) {
  EXPECT_EQ(gorder(test::pattern_of(4, 4, {{0, 3}, {1, 2}, {3, 0}})),
            (std::vector<Index>{0, 1, 2, 3}));
}

TEST(Gorder, HubColumnsTieNothingTogether) {
  // Column 0 is in all of 200 rows and says nothing; pairs of rows share another one.
  test::Entries entries;
  for (Index row = 0; row < 200; ++row) {
    entries.emplace_back(row, 0);
    entries.emplace_back(row, 1 + row % 100);
  }
  const std::vector<Index> order = gorder(test::pattern_of(200, 101, std::move(entries)));
  for (std::size_t place = 0; place < 200; place += 2) {
    EXPECT_EQ(order[place] % 100, order[place + 1] % 100) << place;
  }
}

}  // namespace
}  // namespace csrkit
