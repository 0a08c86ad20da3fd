#include "tools/operation/operations/out_of_core.h"

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

TEST(OutOfCoreFacts, SayHowNearAProductComesToItsCopies) {
  OutOfCoreReport report;
  report.bytes_in = 5'000'000'000;
  report.copy_bytes_per_second = 10e9;
  report.seconds = 1;
  Outcome outcome;
  add_copies(report, /*maps_b=*/true, /*maps_c=*/false, &outcome);
  EXPECT_EQ(outcome.facts["out_of_core"]["seconds"], 1);
  EXPECT_EQ(outcome.facts["out_of_core"]["copy_share"], report.copy_share());
  EXPECT_EQ(outcome.facts["out_of_core"]["maps_b"], true);
  EXPECT_EQ(outcome.facts["out_of_core"]["maps_c"], false);
  outcome.samples.seconds = {2};
  add_copies(report, true, false, &outcome);
  EXPECT_EQ(outcome.facts["out_of_core"]["seconds"], 2) << "samples are of later products";
  EXPECT_EQ(outcome.lines.size(), 2u);
}

}  // namespace
}  // namespace csrkit
