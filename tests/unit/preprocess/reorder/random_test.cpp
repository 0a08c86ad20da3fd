#include <gtest/gtest.h>

#include <cmath>

#include "preprocess/reorder/reorder.h"
#include "tests/unit/preprocess/reorder/graphs.h"

namespace csrkit {
namespace {

Permutation shuffle(Index rows, std::uint64_t seed) {
  ReorderOptions options;
  options.seed = seed;
  return make_ordering("random", test::pattern_of(rows, 1, {}), options).order;
}

TEST(Random, IsAFunctionOfTheSeed) {
  const Permutation first = shuffle(1000, 1), again = shuffle(1000, 1), other = shuffle(1000, 2);
  EXPECT_TRUE(std::equal(first.new_of_old(), first.new_of_old() + 1000, again.new_of_old()));
  EXPECT_FALSE(std::equal(first.new_of_old(), first.new_of_old() + 1000, other.new_of_old()));
}

TEST(Random, HitsEveryOrderOfThreeEquallyOften) {
  constexpr int kTrials = 6000;
  std::vector<int> count(27, 0);
  for (int seed = 0; seed < kTrials; ++seed) {
    const Permutation order = shuffle(3, static_cast<std::uint64_t>(seed));
    ++count[static_cast<std::size_t>(order.new_of_old()[0] * 9 + order.new_of_old()[1] * 3 +
                                     order.new_of_old()[2])];
  }
  int orders = 0;
  for (const int hits : count) {
    if (hits == 0) continue;
    ++orders;
    // Five standard deviations of a binomial with p = 1/6.
    EXPECT_LT(std::abs(hits - kTrials / 6.0), 5 * std::sqrt(kTrials * (1 / 6.0) * (5 / 6.0)));
  }
  EXPECT_EQ(orders, 6);
}

}  // namespace
}  // namespace csrkit
