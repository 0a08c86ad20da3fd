#include "tools/forecast/other_tools.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {
namespace {

const MatrixSizes kGraph{100000, 100000, 2000000, ValueKind::f32};

TEST(OtherTools, ImportHoldsTheEntriesTwice) {
  const ToolForecast f32 = forecast_import(kGraph, 1);
  EXPECT_GE(f32.bytes, 2u * 2000000 * (4 + 4 + 4));
  MatrixSizes wide = kGraph;
  wide.kind = ValueKind::f64;
  EXPECT_EQ(forecast_import(wide, 1).bytes - f32.bytes, 3u * 2000000 * 4);
  EXPECT_GT(f32.seconds, 0);
}

TEST(OtherTools, ImportReadsTextInBlocksThatGrowWithThreads) {
  const auto bytes = [](int threads) { return forecast_import(kGraph, threads).bytes; };
  EXPECT_EQ(bytes(8), bytes(1));
  EXPECT_EQ(bytes(32) - bytes(8), 2u * 24 << 20);
  EXPECT_EQ(bytes(128), bytes(64));
  // There is no more than the text.
  EXPECT_EQ(forecast_import({10, 10, 100, ValueKind::none}, 64).bytes,
            forecast_import({10, 10, 100, ValueKind::none}, 1).bytes);
}

TEST(OtherTools, ReorderingHoldsTheMatrixAndItsMethodOrTheMatrixTwice) {
  const auto order = [](const char* method, bool is_symmetric) {
    return forecast_reorder(find_reorder_method(method), 100000, 100000, 2000000, 1, is_symmetric)
        .bytes;
  };
  // rcm and METIS take more than the copy in the new order, degree takes less.
  for (const char* method : {"rcm", "metis-partition"}) {
    EXPECT_EQ(forecast_reordering(kGraph, method, 1).bytes, kGraph.bytes() + order(method, false));
  }
  constexpr std::uint64_t kPlaceBytes = 16;  // of an order, for rows and for columns
  EXPECT_EQ(forecast_reordering(kGraph, "degree", 1).bytes,
            2 * kGraph.bytes() + 2 * kPlaceBytes * 100000);
  EXPECT_THROW(forecast_reordering(kGraph, "nobodys_order", 1), UsageError);
}

TEST(OtherTools, ASymmetricPatternHasHalfOfTheGraph) {
  MatrixSizes symmetric = kGraph;
  symmetric.is_symmetric = true;
  constexpr std::uint64_t kMetisBytesPerEntry = 64;
  EXPECT_EQ(forecast_reordering(kGraph, "metis-partition", 1).bytes -
                forecast_reordering(symmetric, "metis-partition", 1).bytes,
            2000000 * kMetisBytesPerEntry);
}

// What it takes where nothing merges is bounded by the entries of sparse graphs, by the rows of
// others.
TEST(OtherTools, GraphsOfGroupsAreBoundedByEntriesAndByRows) {
  const auto bytes = [](Offset nnz) {
    return forecast_reorder(find_reorder_method("community"), 100000, 100000, nnz, 1).bytes;
  };
  // With so many entries hardly a vertex has none.
  EXPECT_NEAR(static_cast<double>(bytes(500000) - bytes(450000)), 2.0 * 50000 * (6 + 24), 1e4);
  EXPECT_EQ(bytes(3000000) - bytes(2000000), 2u * 1000000 * 6);
}

TEST(OtherTools, ReportReadsTheStructureAndNoValues) {
  MatrixSizes wide = kGraph;
  wide.kind = ValueKind::f64;
  EXPECT_EQ(forecast_report(wide).bytes, forecast_report(kGraph).bytes);
  MatrixSizes longer = kGraph;
  longer.nnz *= 10;
  // Beyond a chunk only the columns themselves.
  EXPECT_EQ(forecast_report(longer).bytes - forecast_report(kGraph).bytes, 9u * 2000000 * 4);
}

}  // namespace
}  // namespace csrkit
