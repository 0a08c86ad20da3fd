// Watches the clocks while a case is measured, so that a throttled machine shows in its record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/stopwatch.h"
#include "gpu/device/device_clocks.h"
#include "tools/bench/other_work.h"
#include "tools/cli/json.h"

namespace csrkit {

/// How a GPU's clocks are read; empty on a machine or for a case without one.
using ReadDeviceClocks = std::function<gpu::DeviceClocks()>;

/// Reads the clocks of the cores this process may use, and of the GPU, at most ten times a second.
class ClockWatch {
 public:
  explicit ClockWatch(ReadDeviceClocks read_gpu);

  /// Between two samples, untimed. Reads if the last reading is a tenth of a second old.
  void look();

  /// The last reading and what was seen: {"throttled", "cpu": {"clock_mhz": [least, most],
  /// "throttle_events"}, "gpu": {"sm_clock_mhz": [..], "memory_clock_mhz": [..],
  /// "temperature_celsius", "power_watts", "throttled_by"}, "others": of OtherWork, and
  /// "gpu_processes": the most that computed on the GPU beside this one}. What a machine does not
  /// tell is null.
  Json finish();

 private:
  void read();

  ReadDeviceClocks read_gpu_;
  std::vector<int> cpus_;
  Stopwatch since_start_;
  double last_look_seconds_ = 0;
  std::optional<std::int64_t> throttle_events_before_;
  std::vector<double> cpu_mhz_;
  std::vector<gpu::DeviceClocks> gpu_;
  OtherWork others_;
};

}  // namespace csrkit
