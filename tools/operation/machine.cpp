#include "tools/operation/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "api/rooms.h"
#include "core/base/team.h"
#include "core/base/usable_cpus.h"
#include "cpu/common/caches.h"
#include "cpu/common/instruction_set.h"
#include "tools/cli/version.h"

namespace csrkit {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first line of a file of the kernel's, "" if there is none.
std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

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

Json machine_facts(int threads) {
  const std::vector<int> cpus = usable_cpus();
  utsname system{};
  uname(&system);
  return {{"host", system.nodename},
          {"system", std::string(system.sysname) + " " + system.release},
          {"cpu", cpu_model()},
          {"cores", cpus.size()},
          {"threads", team_size(threads)},
          {"pinned_to", ranges_of(cpus)},
          {"last_level_cache_bytes", cpu::known_cache_sizes().last_level_bytes},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"slurm_job", environment("SLURM_JOB_ID")},
          {"omp_proc_bind", environment("OMP_PROC_BIND")},
          {"omp_places", environment("OMP_PLACES")},
          {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE)},
          {"csrkit_version", version()},
          {"commit", commit()},
          {"compiler", compiler()},
          {"cuda", cuda_version()}};
}

std::string device_name(const std::string& room, const Execution& where) {
  if (room == kGpu) return require_gpu_room("--device").device_info(where.device).name;
  return cpu_model() + ", " + std::to_string(team_size(where.threads)) + " threads, " +
         cpu::name_of(cpu::chosen_isa());
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
