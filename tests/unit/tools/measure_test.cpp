#include "tools/support/measure.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(Measure, WarmsUpThenKeepsEverySample) {
  int runs = 0, preparations = 0;
  const Samples samples = measure(
      2, 3, [&] { return static_cast<double>(++runs); }, [&] { ++preparations; });
  EXPECT_EQ(samples.seconds, (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(preparations, 3);
}

TEST(Measure, MedianMinimumAndSpread) {
  const Samples odd{{5, 1, 3}};
  EXPECT_EQ(odd.median_seconds(), 3);
  EXPECT_EQ(odd.min_seconds(), 1);
  const Samples even{{4, 1, 2, 3}};
  EXPECT_EQ(even.median_seconds(), 2.5);
  EXPECT_DOUBLE_EQ(even.spread(), (3.0 - 1.0) / 2.5);
  EXPECT_EQ((Samples{{2}}).spread(), 0);
  EXPECT_EQ(Samples{}.median_seconds(), 0);
  EXPECT_EQ(Samples{}.spread(), 0);
  // One disturbed run out of eight does not show in the spread.
  EXPECT_EQ((Samples{{1, 1, 1, 1, 1, 1, 1, 100}}).spread(), 0);
}

}  // namespace
}  // namespace csrkit
