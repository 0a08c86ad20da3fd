#include "tools/advise/locality_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/unit/core/facts/made_up_device.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(BreakEven, ByHand) {
  EXPECT_EQ(break_even(10, 3, 2), 10);
  EXPECT_EQ(break_even(0, 3, 2), 1);
  EXPECT_EQ(break_even(1, 0.30, 0.27), 34);
  EXPECT_EQ(break_even(1, 2, 2), std::nullopt);
  EXPECT_EQ(break_even(1, 2, 3), std::nullopt);
  EXPECT_EQ(break_even(1, 2, std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(break_even_text(1234.0), "after 1,234");
  EXPECT_EQ(break_even_text(std::nullopt), "never");
  EXPECT_EQ(break_even_text(1e12), "hardly ever");
}

/// Every row of B is read once and again at once: half of the reads hit in any cache.
CsrMatrix pairs() {
  std::vector<std::vector<Index>> rows(64);
  for (Index i = 0; i < 64; ++i) rows[static_cast<std::size_t>(i)] = {i / 2};
  return pattern_of(32, rows);
}

TEST(LocalityFacts, ReadsOfNeighboursHit) {
  LocalityRequest request;
  request.dense_cols = {32};
  const LocalityFacts facts = locality_facts(pairs(), request);
  EXPECT_TRUE(facts.is_exact);
  ASSERT_EQ(facts.caches.size(), 2u);  // one width, two caches
  EXPECT_EQ(facts.caches[0].dense_cols, 32);
  EXPECT_EQ(facts.caches[0].hit_share, 0.5);
  // What misses is read for the first time: no cache can do better.
  EXPECT_EQ(facts.caches[0].moved_over_minimum(), 1);
  EXPECT_TRUE(facts.forecasts.empty());
  EXPECT_TRUE(facts.measured_seconds.empty());
}

TEST(LocalityFacts, AMachineBringsForecasts) {
  LocalityRequest request;
  request.dense_cols = {10, 30};
  request.machine = MachineProfile{"here", {made_up_device()}};
  const LocalityFacts facts = locality_facts(pairs(), request);
  ASSERT_EQ(facts.forecasts.size(), 2u);
  EXPECT_EQ(facts.forecasts[0].device, "cpu");
  EXPECT_EQ(facts.forecasts[1].dense_cols, 30);
  // 64 rows at 7, 64 reads at 1 and at 3: all of B fits the nearest step of the device's prices.
  EXPECT_EQ(facts.forecasts[0].spmm.rows_seconds, 64 * 7);
  EXPECT_LT(facts.forecasts[0].spmm.seconds, facts.forecasts[1].spmm.seconds);
  const Json json = to_json(facts);
  EXPECT_EQ(json["forecasts"].size(), 2u);
  EXPECT_EQ(json["forecasts"][0]["dense_cols"], 10);
}

TEST(LocalityReport, AChangeSaysWhenItHasPaidBack) {
  LocalityRequest request;
  request.dense_cols = {10};
  request.machine = MachineProfile{"here", {made_up_device()}};
  const LocalityFacts after = locality_facts(pairs(), request);
  LocalityFacts before = after;
  before.forecasts[0].spmm.seconds = 2 * after.forecasts[0].spmm.seconds;
  Report report;
  add_locality_change(report, before, after, 10 * after.forecasts[0].spmm.seconds, request);
  EXPECT_NE(report.text().find("after 10"), std::string::npos) << report.text();
}

}  // namespace
}  // namespace csrkit
