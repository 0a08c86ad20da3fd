#include "tools/bench/clock_watch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace csrkit {
namespace {

TEST(ClockWatch, SaysNullForWhatTheMachineDoesNotTell) {
  ClockWatch watch(nullptr);
  watch.look();
  const Json seen = watch.finish();
  EXPECT_TRUE(seen["throttled"].is_boolean());
  EXPECT_TRUE(seen["gpu"].is_null());
  const Json& clock = seen["cpu"]["clock_mhz"];
  EXPECT_TRUE(clock.is_null() || (clock.size() == 2 && clock[0] <= clock[1])) << clock;
  EXPECT_TRUE(seen["cpu"].contains("throttle_events"));
  EXPECT_TRUE(seen["others"]["gpu_processes"].is_null());
}

TEST(ClockWatch, KeepsTheRangeOfTheGpusClocksAndWhyTheyAreHeldBack) {
  int readings = 0;
  ClockWatch watch([&] {
    gpu::DeviceClocks clocks;
    clocks.is_known = true;
    clocks.sm_clock_mhz = readings == 0 ? 1980 : 1500;
    clocks.memory_clock_mhz = 3201;
    clocks.temperature_celsius = 40 + readings;
    clocks.throttled_by = readings == 0 ? "" : "power cap";
    if (readings == 1) clocks.other_processes = 2;  // came later
    ++readings;
    return clocks;
  });
  watch.look();
  const Json seen = watch.finish();
  EXPECT_EQ(readings, 2);
  EXPECT_EQ(seen["throttled"], true);
  EXPECT_EQ(seen["gpu"]["sm_clock_mhz"], (Json{1500, 1980}));
  EXPECT_EQ(seen["gpu"]["memory_clock_mhz"], (Json{3201, 3201}));
  EXPECT_EQ(seen["gpu"]["temperature_celsius"], 41);
  EXPECT_EQ(seen["gpu"]["throttled_by"], (Json{"power cap"}));
  EXPECT_EQ(seen["others"]["gpu_processes"], 2);
}

TEST(ClockWatch, LooksAtMostTenTimesASecond) {
  int readings = 0;
  ClockWatch watch([&] {
    ++readings;
    return gpu::DeviceClocks();
  });
  const Stopwatch clock;
  for (int i = 0; i < 1000; ++i) watch.look();
  EXPECT_LE(readings, 1 + 10 * clock.seconds());
  EXPECT_TRUE(watch.finish()["gpu"].is_null()) << "no reading was known";
}

}  // namespace
}  // namespace csrkit
