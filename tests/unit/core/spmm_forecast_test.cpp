#include "core/spmm_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/core/pattern_samples.h"

namespace csrkit {
namespace {

/// A read costs 1 within 1,000 bytes and 5 beyond, so t(2,000) = 3 and t(4,000) = 4.
DeviceProfile made_up_device() {
  DeviceProfile device;
  device.device = "cpu";
  device.memory_bytes = 1e9;
  device.copy_bytes_per_second = 1e9;
  device.private_cache_bytes = 1000;
  device.gather = {{10, 7, 7, {1000, 2000, 4000}, {1, 3, 4}},
                   {30, 7, 7, {1000, 2000, 4000}, {3, 9, 12}}};
  return device;
}

TEST(DistanceCost, IsTheDerivative) {
  const DistanceCost cost = distance_cost(made_up_device().gather[0]);
  EXPECT_EQ(cost.up_to_bytes, (std::vector<double>{1000, 2000, 4000}));
  EXPECT_EQ(cost.seconds_per_read, (std::vector<double>{1, 5, 5}));
}

TEST(DistanceCost, PoolsWhatFalls) {
  // Steps of 1, 9 and 3: the last two become 5.
  const DistanceCost cost = distance_cost({1, 0, 0, {1000, 2000, 4000}, {1, 5, 4}});
  EXPECT_EQ(cost.up_to_bytes, (std::vector<double>{1000, 4000}));
  EXPECT_EQ(cost.seconds_per_read, (std::vector<double>{1, 5}));
}

TEST(GatherCurve, AnyWidth) {
  const DeviceProfile device = made_up_device();
  EXPECT_EQ(gather_curve(device, 10).seconds_per_read[2], 4);
  EXPECT_EQ(gather_curve(device, 20).seconds_per_read[2], 8);
  EXPECT_EQ(gather_curve(device, 30).seconds_per_read[1], 9);
  EXPECT_EQ(gather_curve(device, 60).seconds_per_read[1], 18);
  EXPECT_EQ(gather_curve(device, 1).seconds_per_read[1], 3);
}

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

TEST(SpmmForecast, NothingToDo) {
  DeviceProfile device = made_up_device();
  device.fixed_seconds = 0.5;
  EXPECT_EQ(forecast_spmm(device, read_profile(CsrMatrix(), device), 40).seconds, 0.5);
}

TEST(MachineProfile, RefusesWhatCannotBe) {
  MachineProfile good;
  good.devices = {made_up_device()};
  validate(good, "m.json");
  const auto refused = [&](auto&& change, const char* says) {
    MachineProfile bad = good;
    change(bad.devices[0]);
    try {
      validate(bad, "m.json");
      ADD_FAILURE() << "accepted: " << says;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("m.json: device 'cpu'"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  };
  refused([](DeviceProfile& d) { d.workers = 0; }, "workers");
  refused([](DeviceProfile& d) { d.rows_per_turn = -1; }, "rows_per_turn");
  refused([](DeviceProfile& d) { d.gather.clear(); }, "gather is empty");
  refused([](DeviceProfile& d) { d.gather[1].dense_cols = 10; }, "ascending");
  refused([](DeviceProfile& d) { d.gather[0].table_bytes[1] = 500; }, "does not ascend");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_read[1] = NAN; }, "seconds_per_read");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_read.pop_back(); }, "equally many");
  refused([](DeviceProfile& d) { d.copy_bytes_per_second = 0; }, "copy_bytes_per_second");
  EXPECT_THROW(good.find("gpu"), UsageError);
  EXPECT_EQ(good.find("cpu").workers, 1);
}

}  // namespace
}  // namespace csrkit
