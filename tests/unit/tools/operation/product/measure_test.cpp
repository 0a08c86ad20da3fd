#include "tools/operation/product/measure.h"

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

TEST(Measure, IntervalOfTheMedianComesFromRanks) {
  Samples hundred;
  for (int i = 1; i <= 100; ++i) hundred.seconds.push_back(i);
  // 95 % of binomial(100, 1/2) lies in 40..60: the 40th and the 61st value.
  EXPECT_EQ(hundred.median_interval().low, 40);
  EXPECT_EQ(hundred.median_interval().high, 61);
  EXPECT_DOUBLE_EQ(hundred.median_uncertainty(), 21.0 / 2 / 50.5);
  const Samples few{{3, 1, 2}};
  EXPECT_EQ(few.median_interval().low, 1);
  EXPECT_EQ(few.median_interval().high, 3);
  EXPECT_EQ(Samples{}.median_uncertainty(), 0);
}

TEST(Measure, StopsWhenTheMedianIsKnown) {
  int runs = 0;
  const auto steady = [&] { return ++runs % 2 == 0 ? 1.0 : 1.01; };
  EXPECT_EQ(measure(0, StoppingRule{3, 0.05, 1000, 60}, steady).seconds.size(), 6U);
  // Twice as long every other time: the median is never known to 1 %.
  const auto restless = [&] { return ++runs % 2 == 0 ? 1.0 : 2.0; };
  EXPECT_EQ(measure(0, StoppingRule{3, 0.01, 40, 60}, restless).seconds.size(), 40U);
  EXPECT_EQ(measure(0, StoppingRule{7, 0.01, 1000000, 0}, restless).seconds.size(), 7U);
  EXPECT_EQ(measure(0, StoppingRule{5, 0, 1000, 0}, restless).seconds.size(), 5U);
}

}  // namespace
}  // namespace csrkit
