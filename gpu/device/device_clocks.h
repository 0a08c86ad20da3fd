// Clocks, power and throttling of a GPU, as its driver reports them. No CUDA in this header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace csrkit::gpu {

/// One reading. A number that the driver does not report is 0; `is_known` is false where it reports
/// nothing.
struct DeviceClocks {
  bool is_known = false;
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int temperature_celsius = 0;
  double power_watts = 0;
  /// Why the clocks are lower than requested: "power cap", "thermal", "power brake", "hardware
  /// slowdown", joined by commas; "" if they are not held back.
  std::string throttled_by;
  /// Other processes that compute on the device; no value where the driver hides them, as in some
  /// containers.
  std::optional<int> other_processes;
};

/// Reads through the driver's management library (NVML), opened at run time. Without it `is_known`
/// is false, and everything else works.
class ClockReader {
 public:
  /// `ordinal` among the visible devices, as in PlanOptions. Throws NoDeviceError without a GPU.
  explicit ClockReader(int ordinal);
  ~ClockReader();
  ClockReader(const ClockReader&) = delete;
  ClockReader& operator=(const ClockReader&) = delete;

  /// Takes about a millisecond; touches neither the device's caches nor its memory.
  DeviceClocks read() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace csrkit::gpu
