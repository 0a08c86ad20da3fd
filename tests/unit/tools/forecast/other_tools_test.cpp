#include "tools/forecast/other_tools.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {
namespace {

const MatrixSizes kGraph{100000, 100000, 2000000, ValueKind::f32};

TEST(OtherTools, ImportHoldsTheEntriesTwice) {
  const ToolForecast f32 = forecast_import(kGraph);
  EXPECT_GE(f32.bytes, 2u * 2000000 * (4 + 4 + 4));
  MatrixSizes wide = kGraph;
  wide.kind = ValueKind::f64;
  EXPECT_EQ(forecast_import(wide).bytes - f32.bytes, 3u * 2000000 * 4);
  EXPECT_GT(f32.seconds, 0);
}

TEST(OtherTools, ReorderingHoldsTheMatrixTwiceAndWhatItsMethodTakes) {
  EXPECT_EQ(forecast_reordering(kGraph, "rcm", 1).bytes,
            2 * kGraph.bytes() +
                forecast_reorder(find_reorder_method("rcm"), 100000, 100000, 2000000, 1).bytes);
  // METIS: by half more than its row says.
  const ReorderForecast metis =
      forecast_reorder(find_reorder_method("metis-partition"), 100000, 100000, 2000000, 1);
  EXPECT_GT(forecast_reordering(kGraph, "metis-partition", 1).bytes,
            2 * kGraph.bytes() + metis.bytes + metis.bytes / 3);
  EXPECT_THROW(forecast_reordering(kGraph, "nobodys_order", 1), UsageError);
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
