// What is said of a product out of core before there is a device. Needs no GPU.
#include "gpu/spmm/out_of_core/forecast.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "gpu/plan/kernels.h"
#include "gpu/spmm/forecast.h"
#include "tests/gpu/gpu_fixture.h"

namespace csrkit::testing {
namespace {

class OutOfCoreForecasts : public ::testing::Test {
 protected:
  std::optional<OutOfCoreForecast> forecast(std::uint64_t limit,
                                            OutOfCore how = OutOfCore::automatic,
                                            const std::string& kernel = "auto") {
    return gpu::forecast_out_of_core_spmm(kernel, problem_, limit, 2, how, 0, false);
  }

  SpmmProblem problem_ =
      default_spmm_problem(convert_values(battery_matrix("power_law"), ValueKind::f32), 64);
};

TEST_F(OutOfCoreForecasts, NoneWhereTheProductFitsOrMayNotBeCut) {
  const std::uint64_t in_core = gpu::forecast_spmm_bytes("auto", problem_);
  EXPECT_FALSE(forecast(in_core).has_value());
  EXPECT_TRUE(forecast(in_core - 1).has_value());
  EXPECT_TRUE(forecast(in_core, OutOfCore::rows).has_value());
  EXPECT_FALSE(forecast(300000, OutOfCore::never).has_value());
  EXPECT_FALSE(forecast(300000, OutOfCore::automatic, "v1_warp_per_row").has_value());
  EXPECT_THROW(forecast(300000, OutOfCore::rows, "v1_warp_per_row"), UsageError);
  EXPECT_THROW(forecast(3000), MemoryError);
}

TEST_F(OutOfCoreForecasts, AreTheCutThatAPlanBeginsWith) {
  for (const bool transposes : {false, true}) {
    problem_.transpose_a = transposes;
    const CsrMatrix op_a = transposes ? transpose(problem_.a, 2) : problem_.a;
    for (const OutOfCore how : {OutOfCore::automatic, OutOfCore::columns, OutOfCore::rows}) {
      const auto before = forecast(300000, how, "row_bins");
      ASSERT_TRUE(before.has_value());
      const gpu::OutOfCoreDecision decision =
          gpu::decide_out_of_core("row_bins", problem_, op_a.row_offsets(), 300000, how, 0, false);
      EXPECT_EQ(before->choice, decision.choice());
      EXPECT_EQ(before->kernel, "row_bins");
      EXPECT_EQ(before->report.bytes_in, decision.cut.bytes_in);
      EXPECT_EQ(before->report.device_bytes, decision.cut.device_bytes);
      EXPECT_EQ(before->report.forecast_seconds, decision.cut.seconds);
      EXPECT_LE(before->report.device_bytes, 300000u);
      EXPECT_EQ(before->report.staging_bytes, std::uint64_t{4} * (4 << 20));
    }
  }
}

TEST_F(OutOfCoreForecasts, OneColumnIsNoSpmv) {
  problem_.dense_cols = 1;
  const auto one = forecast(200000, OutOfCore::rows);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->kernel, "row_bins");
  EXPECT_NE(one->choice.find("works in core only"), std::string::npos);
}

}  // namespace
}  // namespace csrkit::testing
