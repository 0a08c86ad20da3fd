#include "tools/forecast/profile_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

class ProfileFile : public testing::Test {
 protected:
  ~ProfileFile() override { std::remove(path_.c_str()); }

  static MachineProfile sample() {
    MachineProfile profile;
    profile.host = "here";
    DeviceProfile device;
    device.device = "gpu";
    device.name = "made up";
    device.kernel = "gpu.spmm.auto";
    device.workers = 132;
    device.rows_per_turn = 8;
    device.private_cache_bytes = 1 << 17;
    device.shared_cache_bytes = 1 << 25;
    device.memory_bytes = 1e11;
    device.copy_bytes_per_second = 4.2e12;
    device.copy_spread = 0.05;
    device.fixed_seconds = 5e-6;
    device.fixed_spread = 0.06;
    device.gather = {
        {32, 1e-12, 3e-12, {65536, 1048576}, {1.0 / 3e11, 1e-11}, {0.01, 0.02}, 0.03, 0.04}};
    profile.devices = {device};
    return profile;
  }

  void refuses(const std::string& text, const std::string& says) {
    std::ofstream(path_) << text;
    try {
      read_machine_profile(path_);
      ADD_FAILURE() << "accepted " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path_ + ": ", 0), 0u) << error.what();
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }

  std::string path_ = testing::TempDir() + std::to_string(getpid()) + "_profile_file_test.json";
};

TEST_F(ProfileFile, ComesBackBitByBit) {
  write_machine_profile(path_, sample(), {{"cpu", "some"}});
  EXPECT_EQ(to_json(read_machine_profile(path_)), to_json(sample()));
}

TEST_F(ProfileFile, KeepsEverySpread) {
  write_machine_profile(path_, sample(), {});
  const MachineProfile profile = read_machine_profile(path_);
  const DeviceProfile& device = profile.devices.front();
  EXPECT_EQ(device.copy_spread, 0.05);
  EXPECT_EQ(device.fixed_spread, 0.06);
  EXPECT_EQ(device.gather[0].spread, (std::vector<double>{0.01, 0.02}));
  EXPECT_EQ(device.gather[0].output_row_spread, 0.03);
  EXPECT_EQ(device.gather[0].streamed_row_spread, 0.04);
}

TEST_F(ProfileFile, ReadsOldOnesWithoutSpreads) {
  Json json = to_json(sample());
  json["devices"][0].erase("copy_spread");
  json["devices"][0].erase("fixed_spread");
  for (const char* name : {"spread", "output_row_spread", "streamed_row_spread"}) {
    json["devices"][0]["gather"][0].erase(name);
  }
  std::ofstream(path_) << json.dump();
  EXPECT_EQ(read_machine_profile(path_).devices[0].fixed_spread, 0);
}

TEST_F(ProfileFile, RefusesWhatIsNone) {
  refuses("", "byte");
  refuses("{\"rows\": 3}", "expected a machine profile");
  refuses("[]", "expected a machine profile");
  Json json = to_json(sample());
  json["version"] = 2;
  refuses(json.dump(), "version: expected version 1 of the format, found 2");
  json = to_json(sample());
  json["devices"][0].erase("workers");
  refuses(json.dump(), "workers");
  json = to_json(sample());
  json["devices"][0]["gather"][0]["seconds_per_read"][1] = -1;
  refuses(json.dump(), "seconds_per_read");
  json["devices"][0]["gather"][0]["seconds_per_read"] = "fast";
  refuses(json.dump(), "devices[0].gather[0].seconds_per_read: expected an array");
  EXPECT_THROW(read_machine_profile(path_ + ".nowhere"), IoError);
}

}  // namespace
}  // namespace csrkit
