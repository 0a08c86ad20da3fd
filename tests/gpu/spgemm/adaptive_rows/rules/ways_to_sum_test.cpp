// How a block adds up the products of a row, by its numbers alone.

#include "gpu/spgemm/adaptive_rows/rules/ways_to_sum.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

TEST(SpgemmWaysToSum, AreClaimsWhereFewColumnsComeTwice) {
  EXPECT_TRUE(gpu::suits_claims({4'800, 2'000, 70}, 3'200));
  EXPECT_FALSE(gpu::suits_claims({4'800, 2'000, 70}, 3'199)) << "more than a third";
  EXPECT_TRUE(gpu::suits_claims({65'535, 2'000, 65'535}, 60'000));
  EXPECT_FALSE(gpu::suits_claims({65'536, 2'000, 70}, 60'000)) << "16 bits";
  EXPECT_FALSE(gpu::suits_claims({60'000, 2'000, 65'536}, 60'000));
  EXPECT_EQ(gpu::bytes_of_claims({4'900, 2'000, 70}, 4'700, 4),
            16'000u + 4'704 * 6 + 4'704 / 8 * 3 + 200 * 12);
}

TEST(SpgemmWaysToSum, AreSharesWhereWarpsFindEnoughInEachSource) {
  const auto way_of = [](std::uint32_t products, std::uint32_t entries, int threads = 256,
                         std::uint64_t room = 48 * 1024) {
    return gpu::block_sums({products, 1'000, 100}, entries, threads, 4, room);
  };
  EXPECT_EQ(way_of(9'600, 7'000), gpu::BlockSums::shares);
  EXPECT_EQ(way_of(9'600, 2'400), gpu::BlockSums::shares);
  EXPECT_EQ(way_of(9'600, 2'399), gpu::BlockSums::turns) << "some columns come very often";
  EXPECT_EQ(way_of(9'599, 7'000), gpu::BlockSums::shares) << "no room for claims";
  EXPECT_EQ(way_of(9'599, 7'000, 256, 96 * 1024), gpu::BlockSums::claims);
  EXPECT_EQ(way_of(9'600, 7'000, 512, 96 * 1024), gpu::BlockSums::claims) << "twice as many warps";
  EXPECT_EQ(way_of(4'800, 3'000), gpu::BlockSums::shares);
  EXPECT_EQ(way_of(4'799, 3'000), gpu::BlockSums::turns);
}

}  // namespace
}  // namespace csrkit
