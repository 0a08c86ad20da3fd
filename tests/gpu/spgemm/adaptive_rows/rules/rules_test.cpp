// What the rules of adaptive_rows say of rows that are longer than 32 bits count.

#include "gpu/spgemm/adaptive_rows/rules/rules.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(SpgemmRules, TakeNoRowForAHubWhoseProductsAreNotKnown) {
  gpu::BinRules rules;
  rules.hub_sources = gpu::kHubSources;
  gpu::RowFacts row;
  row.sources = Offset{1} << 30;
  row.products = UINT32_MAX - 1;
  EXPECT_TRUE(rules.is_hub(row));
  row.products = UINT32_MAX;  // or more
  EXPECT_FALSE(rules.is_hub(row));
}

TEST(SpgemmRules, StageRowsWhoseColumnsComeOften) {
  gpu::BinRules rules;
  gpu::StagingFacts some;
  some.rows = 1'000;
  some.products = 80'000;
  some.sorted = 10'000;
  some.sampled = 500;
  some.sampled_entries = 200;
  EXPECT_TRUE(rules.stages(some));
  const auto stages_with = [&](Offset gpu::StagingFacts::*fact, Offset value) {
    gpu::StagingFacts other = some;
    other.*fact = value;
    return rules.stages(other);
  };
  EXPECT_FALSE(stages_with(&gpu::StagingFacts::sampled_entries, 201));
  EXPECT_FALSE(stages_with(&gpu::StagingFacts::sampled, 0));
  EXPECT_FALSE(stages_with(&gpu::StagingFacts::sorted, 9'999));
  EXPECT_TRUE(stages_with(&gpu::StagingFacts::twins, 600));
  EXPECT_FALSE(stages_with(&gpu::StagingFacts::twins, 601));
  rules.most_staged_bytes = 0;
  EXPECT_FALSE(rules.stages(some));
  rules = {};
  rules.most_sorted_to_make = 2048;  // rows that are counted by sorting would be made otherwise
  EXPECT_FALSE(rules.stages(some));
}

TEST(SpgemmRules, MakeRowsInOrderWhereNearlyAllAreTiny) {
  constexpr Offset kRows = 1'600;
  struct Rows {
    std::uint32_t tiny = 1'500, merged = 40, of_64 = 60, of_128 = 0;
    unsigned long long products = UINT32_MAX;
    gpu::HubTotals long_rows = {};
  };
  Offset longer = 0;
  const auto are_in_order = [&](const Rows& of) {
    std::uint32_t in_bins[gpu::kMostBins] = {};
    in_bins[static_cast<int>(gpu::CountBin::sort_16)] = of.tiny;
    in_bins[static_cast<int>(gpu::CountBin::merge_4)] = of.merged;
    in_bins[static_cast<int>(gpu::CountBin::sort_64)] = of.of_64;
    in_bins[static_cast<int>(gpu::CountBin::sort_128)] = of.of_128;
    in_bins[0] = static_cast<std::uint32_t>(kRows) - of.tiny - of.merged - of.of_64 - of.of_128;
    return gpu::BinRules::makes_in_order(in_bins, of.long_rows, kRows, of.products, longer);
  };
  const auto with = [&](auto Rows::*fact, auto value) {
    Rows of;
    of.*fact = value;
    return are_in_order(of);
  };
  EXPECT_TRUE(are_in_order({}));
  EXPECT_EQ(longer, 100);
  EXPECT_FALSE(with(&Rows::of_64, 61u));
  EXPECT_FALSE(with(&Rows::merged, 41u));
  EXPECT_FALSE(with(&Rows::of_128, 1u));
  EXPECT_TRUE(with(&Rows::tiny, 1'067u));  // others are empty or copies
  EXPECT_FALSE(with(&Rows::tiny, 1'066u));
  EXPECT_FALSE(with(&Rows::products, 1ull << 32));
  gpu::HubTotals long_rows = {};
  long_rows.levels[1].longest = 1;
  EXPECT_FALSE(with(&Rows::long_rows, long_rows));
  long_rows = {};
  long_rows.longest_other = 1;
  EXPECT_FALSE(with(&Rows::long_rows, long_rows));
}

TEST(SpgemmRules, SortRowsOnManyWords) {
  gpu::BinRules rules;
  rules.hub_sources = gpu::kNoHubs;
  rules.most_alone = gpu::kNeverCut;
  gpu::RowFacts row;
  row.sources = 20;
  row.products = 400;
  const auto bin_on = [&](std::uint32_t words) {
    row.words = words;
    return rules.count_bin(row);
  };
  EXPECT_EQ(bin_on(100), gpu::CountBin::bit_range_warp);
  EXPECT_EQ(bin_on(101), gpu::CountBin::sort_512);
  rules.has_long_rows = true;
  EXPECT_EQ(bin_on(801), gpu::CountBin::bit_range_warp);
  EXPECT_EQ(bin_on(802), gpu::CountBin::sort_512);
  row.products = 256;
  EXPECT_EQ(bin_on(1), gpu::CountBin::sort_256) << "so that one pass gives the same bits";
}

TEST(SpgemmRules, CutNoRowsThatFitABlock) {
  gpu::BinRules rules;
  rules.hub_sources = gpu::kNoHubs;
  rules.most_alone = gpu::kNeverCut;
  rules.has_long_rows = true;
  gpu::RowFacts row;
  row.sources = 80;
  const auto bin_of = [&](std::uint32_t products, std::uint32_t words) {
    row.products = products;
    row.words = words;
    return rules.count_bin(row);
  };
  EXPECT_EQ(bin_of(4096, 6'000), gpu::CountBin::sort_4096);
  EXPECT_EQ(bin_of(4097, 6'000), gpu::CountBin::bit_range_block);
  EXPECT_EQ(bin_of(5'000, 8'192), gpu::CountBin::bit_range_block);
  EXPECT_EQ(bin_of(5'000, 8'193), gpu::CountBin::parts);
}

TEST(SpgemmRules, SortScatteredRowsOnManyWords) {
  gpu::BinRules rules;
  gpu::RowFacts row;
  row.sources = 20;
  row.products = 400;
  const auto bin_of = [&](std::uint32_t words, std::uint32_t entries) {
    row.words = words;
    return rules.make_bin(row, entries, gpu::CountBin::bit_range_warp, 0);
  };
  rules.has_long_rows = true;
  EXPECT_EQ(bin_of(401, 349), gpu::MakeBin::bit_range_6k);
  EXPECT_EQ(bin_of(401, 350), gpu::MakeBin::sort_512);
  EXPECT_EQ(bin_of(400, 350), gpu::MakeBin::bit_range_6k);
}

TEST(SpgemmRules, HaveRoomForWhatABlockNeeds) {
  gpu::BinRules rules;
  rules.most_of_a_warp = 4096;
  const auto bin_of = [&](std::uint32_t products, Offset sources, std::uint32_t entries) {
    return rules.make_bin({products, 2'000, sources}, entries, gpu::CountBin::bit_range_block, 0);
  };
  EXPECT_EQ(bin_of(4'900, 70, 4'700), gpu::MakeBin::bit_range_block) << "claims";
  EXPECT_EQ(bin_of(5'300, 70, 4'700), gpu::MakeBin::bit_range_whole);
  EXPECT_EQ(bin_of(9'600, 100, 7'800), gpu::MakeBin::bit_range_block) << "shares need no more";
  EXPECT_EQ(bin_of(9'599, 100, 7'800), gpu::MakeBin::bit_range_whole);
  EXPECT_EQ(bin_of(9'000, 400, 4'192), gpu::MakeBin::bit_range_block) << "bids";
  EXPECT_EQ(bin_of(9'000, 400, 4'193), gpu::MakeBin::bit_range_whole);
}

TEST(SpgemmRules, GiveLargeTeamsToRowsThatBlocksWouldBeWaitedFor) {
  gpu::BinRules rules;
  rules.value_bytes = 8;
  const gpu::BitRangeRows all = {1'000, 12'000, 2'400'000};
  rules.most_of_a_team = rules.team_bytes(all);
  rules.fewest_of_large_team = rules.large_team_products(all);
  EXPECT_EQ(rules.fewest_of_large_team, 4096u + 2000u);
  gpu::RowFacts row;
  row.words = 350;
  const auto bin_of = [&](Offset sources, std::uint32_t products, std::uint32_t entries) {
    row.sources = sources;
    row.products = products;
    return rules.make_bin(row, entries, gpu::CountBin::bit_range_block, 0);
  };
  EXPECT_EQ(bin_of(300, 6'095, 2'900), gpu::MakeBin::bit_range_team_96k) << "not waited for";
  EXPECT_EQ(bin_of(300, 6'096, 2'900), gpu::MakeBin::bit_range_large_team) << "of eight warps";
  EXPECT_EQ(bin_of(300, 6'096, 3'200), gpu::MakeBin::bit_range_large_team);
  EXPECT_EQ(bin_of(300, 6'095, 3'200), gpu::MakeBin::bit_range_block) << "not waited for";
  EXPECT_EQ(bin_of(300, 29'999, 3'200), gpu::MakeBin::bit_range_large_team);
  EXPECT_EQ(bin_of(300, 30'000, 3'200), gpu::MakeBin::bit_range_block) << "B's rows are long";
  EXPECT_EQ(bin_of(120, 12'000, 6'000), gpu::MakeBin::bit_range_team_96k) << "warps share sums";
  EXPECT_EQ(bin_of(300, 6'095, 1'400), gpu::MakeBin::bit_range_team_48k) << "not waited for";
  EXPECT_EQ(bin_of(300, 6'096, 1'400), gpu::MakeBin::bit_range_large_team) << "of sixteen warps";
  EXPECT_EQ(bin_of(300, 30'000, 1'400), gpu::MakeBin::bit_range_large_team) << "B's rows are long";
  EXPECT_EQ(bin_of(120, 12'000, 1'400), gpu::MakeBin::bit_range_large_team) << "sums of their own";
  EXPECT_EQ(rules.large_team_warps(row, 1'500), 16);
  EXPECT_EQ(rules.large_team_warps(row, 1'600), 8);
  EXPECT_EQ(rules.large_team_warps(row, 3'100), 4);
  rules.has_large_teams = false;
  EXPECT_EQ(rules.large_team_products(all), UINT32_MAX);
}

/// Of many rows each has a warp, but one of them may be waited for.
TEST(SpgemmRules, GiveLargeTeamsWhereOthersHaveWarps) {
  gpu::BinRules rules;
  const gpu::BitRangeRows all = {20'000, 50'000, 12'000'000};
  rules.most_of_a_team = rules.team_bytes(all);
  rules.fewest_of_large_team = rules.large_team_products(all);
  EXPECT_EQ(rules.most_of_a_team, 0u);
  EXPECT_TRUE(rules.for_counting(all).waits_for_a_row);
  EXPECT_FALSE(rules.for_counting({20'000, 14'095, 12'000'000}).waits_for_a_row);
  const auto bin_of = [&](std::uint32_t products) {
    return rules.make_bin({products, 300, 600}, 1'000, gpu::CountBin::bit_range_warp, 0);
  };
  EXPECT_EQ(bin_of(14'095), gpu::MakeBin::bit_range_10k);
  EXPECT_EQ(bin_of(14'096), gpu::MakeBin::bit_range_large_team);
}

TEST(SpgemmRules, MakeTwinsInLaunchesOfTheirOwn) {
  gpu::BinRules rules;
  rules.has_long_rows = true;
  gpu::RowFacts row;
  row.words = 100;
  row.sources = 40;
  row.products = 1'600;
  const auto bin_of = [&](std::uint32_t entries, std::uint32_t twins) {
    return rules.make_bin(row, entries, gpu::CountBin::bit_range_warp, twins);
  };
  EXPECT_EQ(bin_of(200, 0), gpu::MakeBin::bit_range_3k);
  EXPECT_EQ(bin_of(200, 1), gpu::MakeBin::bit_range_twins_8k);
  EXPECT_EQ(bin_of(400, 2), gpu::MakeBin::bit_range_twins_8k) << "room for three";
  EXPECT_EQ(bin_of(400, 5), gpu::MakeBin::bit_range_twins_11k) << "for six";
  EXPECT_EQ(bin_of(500, 5), gpu::MakeBin::bit_range_twins_14k);
  EXPECT_EQ(bin_of(600, 5), gpu::MakeBin::bit_range_twins_8k) << "for three, twice";
  row.words = 1'600;
  EXPECT_EQ(bin_of(100, 0), gpu::MakeBin::bit_range_13k);
  EXPECT_EQ(bin_of(200, 2), gpu::MakeBin::bit_range_wide);
}

TEST(SpgemmRules, GiveTeamsToRowsThatShareSumsWhereOthersHaveWarps) {
  gpu::BinRules rules;
  const auto bin_of = [&](Offset sources, std::uint32_t entries) {
    return rules.make_bin({4'900, 375, sources}, entries, gpu::CountBin::bit_range_block, 0);
  };
  EXPECT_EQ(bin_of(70, 4'100), gpu::MakeBin::bit_range_team_24k);
  EXPECT_EQ(bin_of(80, 4'100), gpu::MakeBin::bit_range_block) << "rows of B are short";
  rules.value_bytes = 8;
  EXPECT_EQ(bin_of(70, 4'100), gpu::MakeBin::bit_range_whole) << "sums are large";
  rules.value_bytes = 4;
  EXPECT_EQ(bin_of(70, 2'000), gpu::MakeBin::bit_range_13k) << "a warp suffices";
}

TEST(SpgemmRules, MergeRowsThatAreAlikeAndNotTiny) {
  gpu::BinRules rules;
  rules.hub_sources = gpu::kNoHubs;
  gpu::RowFacts row;
  row.sources = 5;
  row.words = 4;
  row.is_like_neighbour = true;
  const auto bin_of = [&](std::uint32_t products) {
    row.products = products;
    return rules.count_bin(row);
  };
  EXPECT_EQ(bin_of(16), gpu::CountBin::sort_16);
  EXPECT_EQ(bin_of(17), gpu::CountBin::merge_8);
  EXPECT_EQ(bin_of(64), gpu::CountBin::merge_8);
  EXPECT_EQ(bin_of(65), gpu::CountBin::sort_128);
  row.is_like_neighbour = false;
  EXPECT_EQ(bin_of(17), gpu::CountBin::sort_32);
}

TEST(SpgemmRules, GiveWarpsToRowsThatAreManyAndEven) {
  const gpu::BinRules rules;
  constexpr Offset kRows = 10'000, kProducts = 25'600'000;
  EXPECT_EQ(rules.team_bytes({kRows, 10'000, kProducts}), 0u);
  EXPECT_EQ(rules.team_bytes({kRows, 10'001, kProducts}), 48u * 1024) << "one is long";
  EXPECT_EQ(rules.team_bytes({4'095, 6'000, kProducts}), 96u * 1024) << "few";
}

TEST(SpgemmRules, CountShortEvenRowsByWarps) {
  const gpu::BinRules rules;
  constexpr Offset kRows = 5'000;
  EXPECT_EQ(rules.fewest_for_counting_warps({kRows, 8'000, kRows * 8'000}), 0);
  EXPECT_EQ(rules.fewest_for_counting_warps({kRows, 8'193, kRows * 8'193}),
            rules.fewest_counted_by_warps)
      << "long";
  EXPECT_EQ(rules.fewest_for_counting_warps({kRows, 8'000, kRows * 1'000}),
            rules.fewest_counted_by_warps)
      << "uneven";
  EXPECT_EQ(rules.fewest_for_counting_warps({1'000, 400, 1'000 * 400}),
            rules.fewest_counted_by_warps)
      << "few";
}

TEST(SpgemmRules, MakeTwinsAgainWhereRowsAreAlike) {
  const gpu::BinRules rules;
  constexpr Index kRows = 1 << 20, kTwins = 800'000;
  const Offset mean = gpu::kFewestOfTwin;
  EXPECT_TRUE(rules.makes_twins_again(kRows, kTwins, mean * kRows, 8192));
  EXPECT_FALSE(rules.makes_twins_again(kRows, kTwins, mean * kRows, 8193)) << "one is longer";
  EXPECT_FALSE(rules.makes_twins_again(kRows, kTwins, (mean - 1) * kRows, 8000));
}

TEST(SpgemmRules, CompareTheLargestProducts) {
  const gpu::BinRules rules;
  constexpr Index kRows = INT32_MAX, kTwins = 1'500'000'000;
  constexpr Offset kLongest = UINT32_MAX - 1;
  const Offset half = (kLongest * kRows + 1) / 2;
  EXPECT_TRUE(rules.makes_twins_again(kRows, kTwins, half, kLongest));
  EXPECT_FALSE(rules.makes_twins_again(kRows, kTwins, half - 1, kLongest));
  EXPECT_FALSE(rules.makes_twins_again(kRows, kTwins, INT64_MAX, UINT32_MAX)) << "or more";
}

}  // namespace
}  // namespace csrkit
