#include "core/facts/machine_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/unit/core/facts/made_up_device.h"

namespace csrkit {
namespace {

TEST(DistanceCost, IsTheDerivative) {
  const DistanceCost cost = distance_cost(made_up_device().gather[0]);
  EXPECT_EQ(cost.up_to_bytes, (std::vector<double>{1000, 2000, 4000}));
  EXPECT_EQ(cost.seconds_per_read, (std::vector<double>{1, 5, 5}));
}

TEST(DistanceCost, PoolsWhatFalls) {
  // Steps of 1, 9 and 3: the last two become 5.
  const DistanceCost cost = distance_cost({1, 0, 0, {1000, 2000, 4000}, {1, 5, 4}, {}});
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
  refused([](DeviceProfile& d) { d.copy_bytes_per_second = 1.2e18; }, "which no machine has");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_read[0] = 1e-16; },
          "which no machine has");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_read[0] = 1e308; },
          "a number of seconds_per_read is 1e+308, expected at most 1e+06");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_output_row = 1e308; },
          "seconds_per_output_row is 1e+308");
  refused([](DeviceProfile& d) { d.gather[0].seconds_per_streamed_row = 1e308; },
          "seconds_per_streamed_row is 1e+308");
  refused([](DeviceProfile& d) { d.fixed_seconds = 1e308; }, "fixed_seconds is 1e+308");
  refused([](DeviceProfile& d) { d.copy_spread = -1; }, "copy_spread");
  refused([](DeviceProfile& d) { d.fixed_spread = NAN; }, "fixed_spread");
  refused([](DeviceProfile& d) { d.gather[0].output_row_spread = -1; }, "output_row_spread");
  refused([](DeviceProfile& d) { d.gather[1].streamed_row_spread = -1; }, "streamed_row_spread");
  refused([](DeviceProfile& d) { d.gather[0].spread = {0.1}; }, "spread has 1 number");
  EXPECT_THROW(good.find("gpu"), UsageError);
  EXPECT_EQ(good.find("cpu").workers, 1);
}

}  // namespace
}  // namespace csrkit
