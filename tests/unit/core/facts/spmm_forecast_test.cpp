#include "core/facts/spmm_forecast.h"

#include <gtest/gtest.h>

#include "tests/unit/core/facts/made_up_device.h"
#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

TEST(SpmmForecast, UniformReadsCostWhatWasMeasured) {
  // By construction: reads anywhere in a table of 4,000 bytes have to come out at 4 each. Rows of C
  // pass by, one in sixteen reads, and make that a little more.
  const CsrMatrix a = random_pattern(3000, 1000, 16, 1);
  const DeviceProfile device = made_up_device();
  const SpmmForecast forecast = forecast_spmm(device, read_profile(a, device), 4);
  EXPECT_NEAR(forecast.reads_seconds / static_cast<double>(a.nnz()), 4.06, 0.1);
  EXPECT_EQ(forecast.rows_seconds, 3000 * 7);
  EXPECT_EQ(forecast.seconds, forecast.rows_seconds + forecast.reads_seconds);
  EXPECT_NEAR(forecast.private_hit_share, 0.235, 0.03);
}

TEST(SpmmForecast, NeighboursAreCheap) {
  std::vector<std::vector<Index>> rows(1000);
  for (Index i = 0; i < 1000; ++i) rows[static_cast<std::size_t>(i)] = {i / 5};
  const CsrMatrix a = pattern_of(200, rows);
  DeviceProfile device = made_up_device();
  // One in five reads is the first of its row; all rows together (8,000 bytes) fit no cache.
  EXPECT_NEAR(forecast_spmm(device, read_profile(a, device), 40).reads_seconds, 800 + 200 * 5,
              1e-9);
  // Two workers have a cache each and share nothing.
  device.workers = 2;
  EXPECT_NEAR(forecast_spmm(device, read_profile(a, device), 40).reads_seconds, 800 + 200 * 5,
              1e-9);
  // A repeated product finds its rows if B and C fit together: 200 and 1,000 rows of 40 bytes.
  device.private_cache_bytes = 48000;
  device.gather[0] = {10, 7, 7, {48000, 96000}, {1, 3}};
  EXPECT_NEAR(forecast_spmm(device, read_profile(a, device), 40).reads_seconds, 1000, 1e-9);
}

TEST(SpmmForecast, ALargeCHasItsOwnPrice) {
  // 100 rows of C and all 50 of B: 150 rows between two writes of the same row of C.
  const CsrMatrix a = random_pattern(100, 50, 16, 1);
  DeviceProfile device = made_up_device();
  device.gather[0] = {10, 7, 9, {1000, 2000, 4000}, {1, 2, 3.5}};  // reads cost 1, 3 and 5
  const ReadProfile reads = read_profile(a, device);
  ASSERT_EQ(reads.shared_reads.first_reads(), 50);
  EXPECT_EQ(forecast_spmm(device, reads, 4).rows_seconds, 700);   // 600 bytes
  EXPECT_EQ(forecast_spmm(device, reads, 10).rows_seconds, 800);  // 1,500
  EXPECT_EQ(forecast_spmm(device, reads, 40).rows_seconds, 900);  // 6,000
  device.gather[0] = {10, 7, 9, {1000}, {1}};                     // one price for all reads
  EXPECT_EQ(forecast_spmm(device, reads, 4).rows_seconds, 700);
  EXPECT_EQ(forecast_spmm(device, reads, 10).rows_seconds, 900);
}

TEST(SpmmForecast, RowsOfBHaveTheKindOfTheirMatrix) {
  const CsrMatrix pattern = random_pattern(4, 4, 2, 1);
  EXPECT_EQ(b_row_bytes(pattern, 32), 32 * 4);
  EXPECT_EQ(b_row_bytes(convert_values(pattern, ValueKind::f64), 32), 32 * 8);
  EXPECT_EQ(b_row_bytes(convert_values(pattern, ValueKind::f16), 32), 32 * 2);
}

TEST(SpmmForecast, NothingToDo) {
  DeviceProfile device = made_up_device();
  device.fixed_seconds = 0.5;
  EXPECT_EQ(forecast_spmm(device, read_profile(CsrMatrix(), device), 40).seconds, 0.5);
}

}  // namespace
}  // namespace csrkit
