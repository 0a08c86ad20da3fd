#include "gpu/device/device_clocks.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <utility>

#include "core/base/text.h"
#include "gpu/device/cuda_check.h"
#include "gpu/device/device_info.h"

namespace csrkit::gpu {

namespace {

// The part of the management library (NVML) that is used here. Its functions are stable by name.
using Status = int;  // 0 = success
using Handle = void*;
enum ClockType : int { kSmClock = 1, kMemoryClock = 2 };
constexpr int kGpuTemperature = 0;
constexpr double kMilliwattsPerWatt = 1e3;
constexpr Status kMoreThanFit = 7;  // "insufficient size": the count is still right

constexpr std::pair<unsigned long long, const char*> kReasons[] = {{0x04, "power cap"},
                                                                   {0x08, "hardware slowdown"},
                                                                   {0x20, "thermal"},
                                                                   {0x40, "thermal, hardware"},
                                                                   {0x80, "power brake"}};

std::string names_of(unsigned long long reasons) {
  std::string names;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) append_item(names, name);
  }
  return names;
}

}  // namespace

struct ClockReader::Library {
  void* file = nullptr;
  Handle device = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*clock)(Handle, int, unsigned*) = nullptr;
  Status (*temperature)(Handle, int, unsigned*) = nullptr;
  Status (*power)(Handle, unsigned*) = nullptr;
  Status (*reasons)(Handle, unsigned long long*) = nullptr;
  Status (*processes)(Handle, unsigned*, void*) = nullptr;

  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(file, name));
    return function != nullptr;
  }

  ~Library() {
    if (shutdown != nullptr) shutdown();
    if (file != nullptr) dlclose(file);
  }
};

ClockReader::ClockReader(int ordinal) : library_(std::make_unique<Library>()) {
  require_device(ordinal);
  char bus_id[32] = "";
  CHECK_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal));
  Library& library = *library_;
  library.file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library.file == nullptr) return;
  Status (*init)() = nullptr;
  Status (*device_by_bus)(const char*, Handle*) = nullptr;
  if (!library.find(init, "nvmlInit_v2") || init() != 0) return;
  library.find(library.shutdown, "nvmlShutdown");
  if (!library.find(device_by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
      device_by_bus(bus_id, &library.device) != 0) {
    library.device = nullptr;
    return;
  }
  library.find(library.clock, "nvmlDeviceGetClockInfo");
  library.find(library.temperature, "nvmlDeviceGetTemperature");
  library.find(library.power, "nvmlDeviceGetPowerUsage");
  if (!library.find(library.reasons, "nvmlDeviceGetCurrentClocksEventReasons")) {
    library.find(library.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  library.find(library.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
}

ClockReader::~ClockReader() = default;

DeviceClocks ClockReader::read() const {
  const Library& library = *library_;
  DeviceClocks clocks;
  if (library.device == nullptr || library.clock == nullptr) return clocks;
  unsigned number = 0;
  if (library.clock(library.device, kSmClock, &number) != 0) return clocks;
  clocks.is_known = true;
  clocks.sm_clock_mhz = static_cast<int>(number);
  if (library.clock(library.device, kMemoryClock, &number) == 0) {
    clocks.memory_clock_mhz = static_cast<int>(number);
  }
  if (library.temperature != nullptr &&
      library.temperature(library.device, kGpuTemperature, &number) == 0) {
    clocks.temperature_celsius = static_cast<int>(number);
  }
  if (library.power != nullptr && library.power(library.device, &number) == 0) {
    clocks.power_watts = number / kMilliwattsPerWatt;
  }
  unsigned long long reasons = 0;
  if (library.reasons != nullptr && library.reasons(library.device, &reasons) == 0) {
    clocks.throttled_by = names_of(reasons);
  }
  // Without a buffer the driver only counts the processes, this one included. A count of 0 means
  // that they are hidden.
  unsigned count = 0;
  if (library.processes != nullptr &&
      library.processes(library.device, &count, nullptr) == kMoreThanFit && count > 0) {
    clocks.other_processes = static_cast<int>(count) - 1;
  }
  return clocks;
}

}  // namespace csrkit::gpu
