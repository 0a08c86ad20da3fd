#include <gtest/gtest.h>

#include "cpu/spgemm/rows/row_products.h"

namespace csrkit::cpu {
namespace {

/// Makes `rows` rows of 50 products; a row by flags takes so many cycles, one by branches as many
/// as given. Returns how many were made by branches.
int made_by_branches(WaysOfMeeting& ways, int rows, std::uint64_t flags, std::uint64_t branches) {
  int count = 0;
  for (int row = 0; row < rows; ++row) {
    const bool by_branches = ways.next() == WaysOfMeeting::by_branches;
    count += by_branches ? 1 : 0;
    ways.made(by_branches ? branches : flags, 50);
  }
  return count;
}

TEST(WaysOfMeeting, TakesTheFasterOneForMostRows) {
  WaysOfMeeting quick_branches, slow_branches;
  EXPECT_GT(made_by_branches(quick_branches, 10000, 300, 200), 9800);
  EXPECT_LT(made_by_branches(slow_branches, 10000, 200, 300), 200);
  EXPECT_GT(made_by_branches(slow_branches, 10000, 200, 300), 0) << "both are tried again";
}

TEST(WaysOfMeeting, ChangesWhenTheRowsDo) {
  WaysOfMeeting ways;
  made_by_branches(ways, 10000, 200, 300);
  EXPECT_GT(made_by_branches(ways, 20000, 300, 200), 10000);
}

TEST(WaysOfMeeting, AsksForTheTimeOfRowsThatAreTried) {
  WaysOfMeeting ways;
  int tried = 0;
  for (int row = 0; row < 10000; ++row) {
    tried += ways.is_tried() ? 1 : 0;
    ways.made(ways.is_tried() ? 100 : 0, 50);
  }
  EXPECT_GT(tried, 100);
  EXPECT_LT(tried, 400);
}

}  // namespace
}  // namespace csrkit::cpu
