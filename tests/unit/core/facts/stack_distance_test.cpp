#include "core/facts/stack_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <list>

#include "core/base/hash.h"

namespace csrkit {
namespace {

TEST(StackDistance, ByHand) {
  StackDistance stream(3);
  EXPECT_EQ(stream.read(0), StackDistance::kFirst);
  EXPECT_EQ(stream.read(0), 0);
  EXPECT_EQ(stream.read(2), StackDistance::kFirst);
  EXPECT_EQ(stream.read(1), StackDistance::kFirst);
  EXPECT_EQ(stream.read(0), 2);
  EXPECT_EQ(stream.read(2), 2);
  EXPECT_EQ(stream.read(2), 0);
  EXPECT_EQ(stream.held(), 3);
  stream.reset();
  EXPECT_EQ(stream.held(), 0);
  EXPECT_EQ(stream.read(2), StackDistance::kFirst);
}

TEST(StackDistance, SurvivesManyRenumberings) {
  // 5,000 slots' worth of reads of few items, and of more items than a block holds.
  for (const Index items : {2, 700, 3000}) {
    StackDistance stream(items);
    std::list<Index> order;
    RandomStream random(static_cast<std::uint64_t>(items));
    for (int read = 0; read < 30000; ++read) {
      const auto item = static_cast<Index>(random.below(static_cast<std::uint64_t>(items)) *
                                           random.below(2));  // item 0 half of the time
      const auto at = std::find(order.begin(), order.end(), item);
      const double expected = at == order.end()
                                  ? StackDistance::kFirst
                                  : static_cast<double>(std::distance(order.begin(), at));
      if (at != order.end()) order.erase(at);
      order.push_front(item);
      ASSERT_EQ(stream.read(item), expected) << items << " items, read " << read;
    }
  }
}

TEST(StackDistance, ItemsThatStandForMany) {
  StackDistance stream(4, 1, 10);  // item 0 for itself, 1 to 3 for ten each
  stream.read(0);
  stream.read(1);
  stream.read(2);
  EXPECT_EQ(stream.read(1), 10);
  EXPECT_EQ(stream.read(0), 20);
  EXPECT_EQ(stream.read(2), 11);
  EXPECT_EQ(stream.held(), 21);
}

}  // namespace
}  // namespace csrkit
