#include "tools/forecast/spgemm_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(SpgemmRanks, BytesAreThoseOfTheRowsThatEveryPartLacks) {
  const CsrMatrix a = random_pattern(60, 80, 5, 3), b = random_pattern(80, 40, 7, 4);
  const PartBorders borders{{0, 10, 10, 60}, {0, 30, 70, 80}};
  const SpgemmRanksForecast found = forecast_spgemm_ranks(a, b.row_offsets(), 12, borders);
  std::uint64_t moved = 0, worst = 0, sent[3] = {0, 0, 0};
  Offset products = 0, worst_products = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    std::set<Index> needed;
    Offset mine = 0;
    for (Index row = borders.rows[part]; row < borders.rows[part + 1]; ++row) {
      for (Offset at = a.row_offsets()[row]; at < a.row_offsets()[row + 1]; ++at) {
        needed.insert(a.col_indices()[at]);
        mine += b.row_length(a.col_indices()[at]);
      }
    }
    std::uint64_t received = 0;
    for (const Index col : needed) {
      const std::size_t owner = col < 30 ? 0 : col < 70 ? 1 : 2;
      if (owner == part) continue;
      received += 12 * static_cast<std::uint64_t>(b.row_length(col));
      sent[owner] += 12 * static_cast<std::uint64_t>(b.row_length(col));
    }
    moved += received;
    worst = std::max(worst, received);
    products += mine;
    worst_products = std::max(worst_products, mine);
  }
  EXPECT_EQ(found.ranks, 3);
  EXPECT_EQ(found.moved_bytes, moved);
  EXPECT_EQ(found.worst_received_bytes, worst);
  EXPECT_EQ(found.worst_sent_bytes, std::max({sent[0], sent[1], sent[2]}));
  EXPECT_EQ(found.products, products);
  EXPECT_EQ(found.worst_products, worst_products);
  EXPECT_DOUBLE_EQ(found.most_speed_up(),
                   static_cast<double>(products) / static_cast<double>(worst_products));
}

TEST(SpgemmRanks, BlocksCoverTheRowsHoweverManyThereAre) {
  const CsrMatrix a = random_pattern(50, 50, 4, 5);
  for (const Index ranks : {1, 2, 7, 50, 90}) {
    const PartBorders borders = borders_by_products(a, a.row_offsets(), a.rows(), ranks);
    ASSERT_EQ(borders.parts(), ranks);
    ASSERT_EQ(borders.cols.size(), borders.rows.size());
    EXPECT_EQ(borders.rows.front(), 0);
    EXPECT_EQ(borders.rows.back(), 50);
    EXPECT_TRUE(std::is_sorted(borders.rows.begin(), borders.rows.end()));
  }
}

}  // namespace
}  // namespace csrkit
