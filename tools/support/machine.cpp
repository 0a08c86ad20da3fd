#include "tools/support/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/support/version.h"

namespace csrkit {

namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      const std::size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
  }
  return "unknown";
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

/// What OpenMP will use: the request, else OMP_NUM_THREADS, else the cores it may use.
int threads_of(int requested) {
  if (requested > 0) return requested;
  if (const char* text = std::getenv("OMP_NUM_THREADS")) {
    const int threads = std::atoi(text);
    if (threads > 0) return threads;
  }
  return usable_cores();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Json machine_facts(int threads) {
  utsname system{};
  uname(&system);
  const auto memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return {{"host", system.nodename},
          {"system", std::string(system.sysname) + " " + system.release},
          {"cpu", cpu_model()},
          {"cores", usable_cores()},
          {"threads", threads_of(threads)},
          {"omp_proc_bind", environment("OMP_PROC_BIND")},
          {"omp_places", environment("OMP_PLACES")},
          {"memory_bytes", memory},
          {"csrkit_version", version()},
          {"compiler", compiler()},
          {"cuda", cuda_version()}};
}

Json to_json(const gpu::DeviceInfo& device) {
  return {{"ordinal", device.ordinal},
          {"name", device.name},
          {"compute_capability",
           std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor)},
          {"multiprocessors", device.multiprocessors},
          {"l2_bytes", device.l2_bytes},
          {"total_memory_bytes", device.total_memory_bytes},
          {"sm_clock_khz", device.sm_clock_khz},
          {"memory_clock_khz", device.memory_clock_khz},
          {"peak_bandwidth_bytes_per_second", device.peak_bandwidth_bytes_per_second},
          {"driver_version", device.driver_version},
          {"runtime_version", device.runtime_version}};
}

}  // namespace csrkit
