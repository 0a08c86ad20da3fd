#include "tools/bench/ratio.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

/// Twenty samples of a machine that slows down by a half in the middle.
Samples disturbed(double seconds) {
  Samples samples;
  for (int i = 0; i < 20; ++i) samples.seconds.push_back(i < 10 ? seconds : 1.5 * seconds);
  return samples;
}

Json record_of(const Samples& samples, const char* id) {
  Json record{{"samples_seconds", samples.seconds}};
  if (id != nullptr) record["turns"] = {{"id", id}, {"cases", 2}};
  return record;
}

TEST(Ratio, OfPairsIsBlindToWhatDisturbsBoth) {
  const Ratio ratio = ratio_of_pairs(disturbed(2.2), disturbed(2));
  EXPECT_DOUBLE_EQ(ratio.value, 1.1);
  EXPECT_NEAR(ratio.interval.low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.interval.high, 1.1, 1e-12);
  EXPECT_FALSE(ratio.is_level());
}

TEST(Ratio, OfMediansIsNot) {
  const Ratio ratio = ratio_of_medians(disturbed(2.2), disturbed(2));
  EXPECT_DOUBLE_EQ(ratio.value, 1.1);
  EXPECT_LT(ratio.interval.low, 0.9);
  EXPECT_GT(ratio.interval.high, 1.3);
  EXPECT_TRUE(ratio.is_level());
}

TEST(Ratio, OfRecordsTakesPairsOnlyFromTheSameRounds) {
  const Samples base = disturbed(2.2), own = disturbed(2);
  EXPECT_FALSE(speed_against(record_of(base, "1"), record_of(own, "1")).is_level());
  EXPECT_TRUE(speed_against(record_of(base, "1"), record_of(own, "2")).is_level());
  EXPECT_TRUE(speed_against(record_of(base, nullptr), record_of(own, nullptr)).is_level());
  Samples fewer = own;
  fewer.seconds.pop_back();
  EXPECT_TRUE(speed_against(record_of(base, "1"), record_of(fewer, "1")).is_level());
}

TEST(Ratio, OfNothingIsNone) {
  EXPECT_EQ(ratio_of_pairs(Samples{}, Samples{}).value, 0);
  EXPECT_EQ(ratio_of_pairs(Samples{{1}}, Samples{{0}}).value, 0);
  EXPECT_EQ(ratio_of_medians(Samples{}, Samples{{1}}).value, 0);
  EXPECT_EQ(ratio_of_medians(Samples{{1}}, Samples{{0}}).value, 0);
}

}  // namespace
}  // namespace csrkit
