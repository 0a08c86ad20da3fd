#include "tools/forecast/forecast.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "tests/unit/core/facts/made_up_device.h"
#include "tests/unit/core/pattern_samples.h"
#include "tools/forecast/other_tools.h"

namespace csrkit {
namespace {

/// csr-forecast's way from a command line to forecasts, for a matrix in a file of its own.
class ForecastTest : public ::testing::Test {
 protected:
  ~ForecastTest() override { std::remove(path_.c_str()); }

  ForecastToolOptions options_for(const CsrMatrix& a, std::vector<const char*> arguments) {
    CsrFile file;
    file.matrix = a;
    write_csr_file(path_, file);
    arguments.insert(arguments.begin(), {"csr-forecast", path_.c_str()});
    ForecastToolOptions options =
        parse_forecast_options(static_cast<int>(arguments.size()), arguments.data());
    options.process_bytes = 10 << 20;
    return options;
  }

 private:
  std::string path_ =
      ::testing::TempDir() + "csrkit_forecast_" + std::to_string(::getpid()) + ".csr";
};

TEST_F(ForecastTest, OneForEveryWidth) {
  const auto forecasts =
      make_forecasts(options_for(random_pattern(1000, 500, 8, 1), {"-k", "24,64"}));
  ASSERT_EQ(forecasts.size(), 2u);
  EXPECT_EQ(forecasts[0].product.dense_cols, 24);
  EXPECT_EQ(forecasts[0].product.output_bytes, 1000u * 24 * 4);
  EXPECT_EQ(forecasts[1].product.output_bytes, 1000u * 64 * 4);
  // The wider product needs B and C of 40 more columns.
  const std::uint64_t more = forecasts[1].host_peak_bytes - forecasts[0].host_peak_bytes;
  EXPECT_GE(more, 1500u * 40 * 4);
  EXPECT_GT(forecasts[0].host_peak_bytes, std::uint64_t{10} << 20);
  EXPECT_FALSE(forecasts[0].device_peak_bytes.has_value());
  EXPECT_FALSE(forecasts[0].product.seconds.has_value());  // no machine
}

TEST_F(ForecastTest, AMachineGivesTimes) {
  ForecastToolOptions options = options_for(random_pattern(100, 100, 4, 1), {"-k", "10"});
  options.machine = MachineProfile{"here", {made_up_device()}};
  const auto forecasts = make_forecasts(options);
  ASSERT_TRUE(forecasts[0].product.seconds.has_value());
  EXPECT_GE(*forecasts[0].product.seconds, 100 * 7 + 400);  // rows at 7, reads at 1 or more
}

TEST_F(ForecastTest, ASampledProductReadsWhatAProductReads) {
  const CsrMatrix a = random_pattern(100, 100, 4, 1);
  const auto seconds_of = [&](const char* operation) {
    ForecastToolOptions options = options_for(a, {"--operation", operation, "-k", "10"});
    options.machine = MachineProfile{"here", {made_up_device()}};
    return make_forecasts(options)[0].product.seconds.value_or(0);
  };
  EXPECT_GT(seconds_of("sddmm"), 0);
  EXPECT_EQ(seconds_of("sddmm"), seconds_of("spmm"));
}

TEST_F(ForecastTest, ASparseProductIsCountedOrBounded) {
  // A A of a diagonal: one entry per row, exactly and at most.
  std::vector<std::vector<Index>> rows(50);
  for (Index i = 0; i < 50; ++i) rows[static_cast<std::size_t>(i)] = {i};
  const CsrMatrix a = pattern_of(50, rows);
  const auto counted = make_forecasts(options_for(a, {"--operation", "spgemm"}));
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_FALSE(counted[0].product.is_output_bounded);
  const auto bounded = make_forecasts(options_for(a, {"--operation", "spgemm", "--bound"}));
  EXPECT_TRUE(bounded[0].product.is_output_bounded);
  EXPECT_GE(bounded[0].product.output_bytes, counted[0].product.output_bytes);
}

TEST_F(ForecastTest, KernelsThatTakeTurnsHoldTheirOperandsEach) {
  const CsrMatrix a = random_pattern(1000, 500, 8, 1);
  const auto one = make_forecasts(
      options_for(a, {"--tool", "csr-bench", "--kernels", "cpu.row_loop", "-k", "8,64"}));
  const auto two = make_forecasts(
      options_for(a, {"--tool", "csr-bench", "--kernels", "cpu.row_loop,cpu.naive", "-k", "8,64"}));
  ASSERT_EQ(one.size(), 2u);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_GE(two[1].host_peak_bytes - one[1].host_peak_bytes, 1500u * 64 * 4);
  EXPECT_GT(two[1].run_seconds, one[1].run_seconds);
}

TEST_F(ForecastTest, AFileSaysTheSizesOfOtherTools) {
  const auto of_file =
      make_forecasts(options_for(random_pattern(1000, 500, 8, 1), {"--tool", "csr-import"}));
  ASSERT_EQ(of_file.size(), 1u);
  EXPECT_GT(of_file[0].host_peak_bytes, std::uint64_t{10} << 20);
}

// Text of few lines takes little room while it is inflated; of many, never more than the buffers.
TEST(OtherToolsTest, AnImportOfLittleTextIsSmall) {
  EXPECT_LT(forecast_import({2708, 2708, 10556, ValueKind::none}, 1).bytes, std::uint64_t{2} << 20);
  const std::uint64_t most = 12 << 20, entries = 100'000'000;
  EXPECT_EQ(forecast_import({1, 1, static_cast<Offset>(entries), ValueKind::none}, 1).bytes,
            20 * entries + 16 + most);
}

TEST_F(ForecastTest, KnowsWhatThisProcessHolds) {
  EXPECT_GT(resident_bytes(true), std::uint64_t{1} << 20);
  const std::uint64_t without_files = resident_bytes(false);  // first: it may grow in between
  EXPECT_LE(without_files, resident_bytes(true));
}

}  // namespace
}  // namespace csrkit
