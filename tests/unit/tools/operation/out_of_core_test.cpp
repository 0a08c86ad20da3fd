#include "tools/operation/out_of_core.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

TEST(OutOfCoreFacts, SayThePlanAndNothingOfAProduct) {
  OutOfCoreReport report;
  report.keeps_a = true;
  report.panels = 3;
  report.panel_cols = 64;
  report.blocks = 1;
  report.bytes_in = 5000;
  report.bytes_out = 700;
  report.device_bytes = 900;
  report.staging_bytes = 80;
  report.forecast_seconds = 0.25;
  report.seconds = 7;  // of a product, which there was not
  EXPECT_EQ(plan_facts(report).dump(),
            R"({"scheme":"columns","panels":3,"panel_cols":64,"blocks":1,"bytes_in":5000,)"
            R"("bytes_out":700,"device_bytes":900,"staging_bytes":80,"forecast_seconds":0.25})");
  report.keeps_a = false;
  EXPECT_EQ(plan_facts(report)["scheme"], "rows");
}

}  // namespace
}  // namespace csrkit
