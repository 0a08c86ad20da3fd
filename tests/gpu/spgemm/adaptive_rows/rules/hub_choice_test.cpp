// Which rows are hubs: what the model answers, without a device.

#include "gpu/spgemm/adaptive_rows/rules/hub_choice.h"

#include <gtest/gtest.h>

#include <vector>

namespace csrkit::testing {

namespace {

/// The totals of rows, each of its sources and products.
struct LongRow {
  Offset sources, products;
};
gpu::HubTotals totals_of(const std::vector<LongRow>& rows) {
  gpu::HubTotals totals = {};
  for (const LongRow& row : rows) {
    gpu::HubTotals of_row = {};
    const auto nanoseconds =
        gpu::row_nanoseconds(row.sources, static_cast<unsigned long long>(row.products));
    if (gpu::may_be_hub(row.sources, row.products)) {
      of_row.levels[gpu::hub_level_of(row.sources)] = {
          static_cast<unsigned long long>(row.sources),
          static_cast<unsigned long long>(row.products), 0, nanoseconds};
    } else {
      of_row.longest_other = nanoseconds;
    }
    totals += of_row;
  }
  return totals;
}

Offset hub_sources_of(const std::vector<LongRow>& rows, Offset products) {
  return gpu::choose_hub_sources(totals_of(rows), products, 4, Offset{1} << 23);
}

}  // namespace

TEST(SpgemmHubChoice, KnowsItsLevels) {
  EXPECT_EQ(gpu::hub_level_of(257), 0);
  EXPECT_EQ(gpu::hub_level_of(512), 0);
  EXPECT_EQ(gpu::hub_level_of(513), 1);
  EXPECT_EQ(gpu::hub_level_of(1'024), 1);
  EXPECT_EQ(gpu::hub_level_of(1'025), 2);
  EXPECT_EQ(gpu::hub_level_of(1'000'000), 2);
}

TEST(SpgemmHubChoice, TakesRowsThatTakeLongerThanAllOthers) {
  EXPECT_EQ(hub_sources_of({}, 1'000), gpu::kNoHubs);
  EXPECT_NE(hub_sources_of({{20'000, 60'000}}, 500'000), gpu::kNoHubs);
  // A row that the device is done with while it makes the others.
  EXPECT_EQ(hub_sources_of({{3'000, 12'000}}, 90'000'000), gpu::kNoHubs);
  // What launches take is more.
  EXPECT_EQ(hub_sources_of({{300, 900}}, 500'000), gpu::kNoHubs);
}

// Four rows of more than 1,024 sources among forty of almost as many: sorting the four shortens
// nothing.
TEST(SpgemmHubChoice, LooksAtTheLongestRowBesideHubs) {
  std::vector<LongRow> rows = {{1'037, 5'574}, {1'090, 6'221}, {1'074, 6'237}, {1'088, 6'458}};
  for (int i = 0; i < 40; ++i) rows.push_back({1'016, 6'600});
  EXPECT_NE(hub_sources_of(rows, 7'068'032), Offset{1'024});
  // And where a row of that length is no hub, none is.
  EXPECT_EQ(hub_sources_of({{5'000, 15'000}, {5'000, 400'000}}, 1'000'000), gpu::kNoHubs);
}

// None of 222 rows takes longer than the sort of all, but together they look up millions of sources
// in their parts.
TEST(SpgemmHubChoice, CountsSearchesInParts) {
  gpu::HubTotals totals = totals_of(std::vector<LongRow>(222, {2'600, 31'000}));
  constexpr Offset kProducts = 20'400'000, kMost = Offset{1} << 23;
  EXPECT_EQ(gpu::choose_hub_sources(totals, kProducts, 4, kMost), gpu::kNoHubs);
  totals.levels[gpu::hub_level_of(2'600)].searches = 222ull * 2'600 * 11;
  EXPECT_EQ(gpu::choose_hub_sources(totals, kProducts, 4, kMost), Offset{1'024});
}

TEST(SpgemmHubChoice, HasMemoryForSoManyProducts) {
  const std::vector<LongRow> rows = {{20'000, 60'000}, {600, 9'000}};
  EXPECT_NE(hub_sources_of(rows, 500'000), gpu::kNoHubs);
  const gpu::HubTotals totals = totals_of(rows);
  EXPECT_EQ(gpu::choose_hub_sources(totals, 500'000, 4, 59'000), gpu::kNoHubs);
  EXPECT_EQ(gpu::choose_hub_sources(totals, 500'000, 4, 60'000), Offset{1'024});
}

TEST(SpgemmHubChoice, CutsRowsThatTakeLongerThanTheRest) {
  EXPECT_EQ(gpu::choose_cut(0, 1'000), gpu::kNeverCut);
  EXPECT_EQ(gpu::choose_cut(99'000, 0), gpu::kNeverCut);
  const auto of_one = [](Offset sources, unsigned long long row, Offset products) {
    return gpu::choose_cut(gpu::row_nanoseconds(sources, row), products);
  };
  const unsigned long long cut = of_one(1'570, 59'826, 9'459'338);
  EXPECT_LT(cut, gpu::row_nanoseconds(584, 17'916));
  EXPECT_GT(cut, gpu::row_nanoseconds(302, 9'356));
  EXPECT_GE(cut, gpu::kLeastCut);
  // The device is done with it while it makes the others.
  EXPECT_EQ(of_one(1'570, 59'826, 95'000'000), gpu::kNeverCut);
}

}  // namespace csrkit::testing
