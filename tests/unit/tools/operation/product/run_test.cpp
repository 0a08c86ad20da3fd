#include "tools/operation/product/run.h"

#include <gtest/gtest.h>

namespace csrkit {
namespace {

Outcome measured_outcome() {
  Outcome outcome;
  outcome.facts = {{"rows", 4}};
  outcome.choice = "as small as it is";
  outcome.kernel_run = "cpu.spmm.row_loop";
  outcome.has_run = true;
  outcome.check.emplace();
  outcome.check->passed = true;
  outcome.check->rows_checked = 4;
  outcome.samples.seconds = {0.5, 1, 0.25};
  outcome.cost = {{"flops", 2e9}, {"gather_bytes", 8e9}};
  outcome.phases = {{"analysis", 0.5}, {"upload_a", 0}};
  outcome.peak_bytes = 272;
  outcome.columns = {{"rows", "4"}};
  outcome.lines = {{"last", "line"}};
  outcome.memory_note = " (of 300 B)";
  return outcome;
}

TEST(Outcome, AProductWithDenseMatricesHasItsSizesAndItsCost) {
  Buffer<Offset> row_offsets(3);
  for (Index i = 0; i < 3; ++i) row_offsets[i] = i;
  Buffer<Index> col_indices(2);
  col_indices[0] = col_indices[1] = 4;
  const CsrMatrix a(2, 5, std::move(row_offsets), std::move(col_indices), ValueArray());
  Phases phases;
  phases.peak_bytes = 99;
  Outcome outcome;
  describe_product(a, 3000, {12, 34, 56}, phases, &outcome);
  EXPECT_TRUE(outcome.has_run);
  EXPECT_EQ(outcome.facts.dump(), R"({"rows":2,"cols":5,"nnz":2,"dense_cols":3000})");
  EXPECT_EQ(outcome.peak_bytes, 99u);
  EXPECT_EQ(outcome.columns.back().second, "3,000");
  const Json cost = to_json(outcome)["cost"];
  EXPECT_EQ(cost.dump(), R"({"flops":12,"minimum_bytes":56,"gather_bytes":34})");
}

TEST(Outcome, RatesComeFromTheMedian) {
  const Json json = to_json(measured_outcome());
  EXPECT_EQ(json["median_seconds"], 0.5);
  EXPECT_EQ(json["min_seconds"], 0.25);
  EXPECT_EQ(json["gflops"], 4);
  EXPECT_EQ(json["gather_gb_per_second"], 16);
  EXPECT_EQ(json["cost"]["gather_bytes"], 8e9);
  EXPECT_EQ(json["phases"]["analysis_seconds"], 0.5);
  EXPECT_EQ(json["check"]["rows_checked"], 4);
  EXPECT_EQ(json["kernel_run"], "cpu.spmm.row_loop");
}

TEST(Outcome, AFailedCheckHasNoTimes) {
  Outcome outcome = measured_outcome();
  outcome.check->passed = false;
  outcome.check->failure = "row 2, column 1";
  outcome.samples.seconds.clear();
  EXPECT_FALSE(outcome.passed());
  const Json json = to_json(outcome);
  EXPECT_FALSE(json.contains("median_seconds"));
  EXPECT_FALSE(json.contains("gflops"));
  EXPECT_EQ(json["check"]["failure"], "row 2, column 1");
  EXPECT_EQ(check_text(outcome.check), "FAILED: row 2, column 1");
}

TEST(Outcome, AForecastAloneHasFactsAlone) {
  Outcome outcome;
  outcome.facts = {{"rows", 4}};
  const Json json = to_json(outcome);
  EXPECT_EQ(json["rows"], 4);
  EXPECT_FALSE(json.contains("check"));
  EXPECT_FALSE(json.contains("peak_bytes"));
}

TEST(Outcome, PeopleGetATableThenLines) {
  Report report;
  add_outcome(&report, measured_outcome(), "cpu.spmm.auto", /*is_cold=*/true);
  EXPECT_EQ(report.text(),
            "kernel         rows  median ms   min ms  spread %  GFLOP/s  GB/s gather\n"
            "cpu.spmm.auto     4    500.000  250.000     150.0     4.00        16.00\n"
            "\n"
            "choice    as small as it is\n"
            "caches    cold\n"
            "check     ok, worst error 0.000 of the bound (all rows)\n"
            "analysis  500.00 ms\n"
            "memory    272 B (of 300 B)\n"
            "last      line\n");
}

TEST(Outcome, TheCheckSaysHowMuchItSaw) {
  EXPECT_EQ(check_text(std::nullopt), "not checked");
  CheckResult check;
  check.passed = check.sampled = true;
  check.rows_checked = 65536;
  check.worst_error_ratio = 0.02;
  EXPECT_EQ(check_text(check), "ok, worst error 0.020 of the bound (65,536 rows, a sample)");
  check.has_projections = true;
  EXPECT_EQ(check_text(check), "ok, worst error 0.020 of the bound (65,536 rows and a projection)");
}

}  // namespace
}  // namespace csrkit
