#include "tools/ranks/rank_records.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

std::vector<Json> two_records() {
  return parsed_records({R"({"samples_seconds": [1, 4], "bytes_received": 100,
           "check": {"rows_checked": 3, "worst_error_ratio": 0.5}})",
                         R"({"samples_seconds": [2, 3], "bytes_received": 2000,
           "check": {"rows_checked": 4, "worst_error_ratio": 0.25}})"});
}

Json json_of(const Report& report) { return Json::parse(report.json()); }

TEST(RankRecords, AProductIsOverWithItsSlowestRank) {
  EXPECT_EQ(slowest_of(two_records()).seconds, (std::vector<double>{2, 4}));
}

TEST(RankRecords, BytesAreThoseOfAllAndOfTheRankThatGetsMost) {
  Report report;
  add_bytes_moved(&report, two_records(), " in each product", "; in place");
  EXPECT_EQ(report.text(),
            "bytes moved  2.1 KiB in each product, 2.0 KiB to the rank that gets most; in place\n");
  EXPECT_EQ(json_of(report)["bytes"].dump(), R"({"total":2100,"worst_rank":2000})");
}

TEST(RankRecords, RowsOfAllChecksCountAndTheWorstError) {
  Report report;
  add_rank_checks(&report, two_records());
  EXPECT_EQ(json_of(report)["check"].dump(), R"({"rows_checked":7,"worst_error_ratio":0.5})");
  std::vector<Json> unchecked = two_records();
  for (Json& record : unchecked) record.erase("check");
  Report other;
  add_rank_checks(&other, unchecked);
  EXPECT_EQ(json_of(other)["check"], "not checked");
}

TEST(RankRecords, TheRateIsThatOfTheMedian) {
  Report report;
  add_rank_times(&report, two_records(), "product", 6e9, "", 1);
  const Json json = json_of(report);
  EXPECT_EQ(json["median_seconds"], 3);
  EXPECT_EQ(json["gflops"], 2);
  EXPECT_FALSE(json.contains("output"));
  EXPECT_EQ(json["ranks"].size(), 2u);
}

TEST(RankRecords, APhaseHasTheMedianOfItsSamples) {
  struct Phases {
    double read = 0, multiply = 0;
  };
  const std::vector<Phases> samples = {{1, 10}, {3, 20}, {2, 90}};
  EXPECT_EQ(median_of(samples, &Phases::read), 2);
  EXPECT_EQ(median_of(samples, &Phases::multiply), 20);
}

}  // namespace
}  // namespace csrkit
