// Clocks, power and throttling of a GPU, as its driver reports them. No CUDA in this header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace csrkit::gpu {

/// One reading. Where the driver does not tell, a number is 0 and `is_known` says so for all.
struct DeviceClocks {
  bool is_known = false;
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int temperature_celsius = 0;
  double power_watts = 0;
  /// Why the clocks are below what was asked for: "power cap", "thermal", "power brake",
  /// "hardware slowdown", joined by commas; "" if they are not held back.
  std::string throttled_by;
  /// Processes that compute on the device beside this one; none where the driver hides them, as in
  /// some containers.
  std::optional<int> other_processes;
};

/// Reads through the driver's management library, which is looked for at run time: a machine
/// without it has readings that are not known, and everything else works.
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
