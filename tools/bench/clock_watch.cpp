#include "tools/bench/clock_watch.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/base/usable_cpus.h"

namespace csrkit {

namespace {

constexpr double kSecondsBetweenLooks = 0.1;
constexpr double kKhzPerMhz = 1e3;

std::string cpu_folder(int cpu) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
}

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream stream(path);
  std::int64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

/// Mean over the given cores: from the frequency driver, or else what the kernel estimates.
std::optional<double> mean_cpu_mhz(const std::vector<int>& cpus) {
  double sum = 0;
  int count = 0;
  for (const int cpu : cpus) {
    if (const auto khz = number_in(cpu_folder(cpu) + "cpufreq/scaling_cur_freq")) {
      sum += static_cast<double>(*khz) / kKhzPerMhz;
      ++count;
    }
  }
  if (count > 0) return sum / count;
  std::ifstream info("/proc/cpuinfo");
  const std::set<int> wanted(cpus.begin(), cpus.end());
  int cpu = -1;
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (line.rfind("processor", 0) == 0) cpu = std::atoi(line.c_str() + colon + 1);
    if (line.rfind("cpu MHz", 0) == 0 && wanted.count(cpu) > 0) {
      sum += std::atof(line.c_str() + colon + 1);
      ++count;
    }
  }
  return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
}

/// How often the cores were slowed down for their heat, since the system started.
std::optional<std::int64_t> throttle_events(const std::vector<int>& cpus) {
  std::int64_t events = 0;
  bool is_known = false;
  for (const int cpu : cpus) {
    for (const char* file : {"core_throttle_count", "package_throttle_count"}) {
      if (const auto count = number_in(cpu_folder(cpu) + "thermal_throttle/" + file)) {
        events += *count;
        is_known = true;
      }
    }
  }
  return is_known ? std::optional<std::int64_t>(events) : std::nullopt;
}

template <class Items, class Get>
Json range_of(const Items& items, Get&& get) {
  if (items.empty()) return nullptr;
  auto least = get(items.front()), most = least;
  for (const auto& item : items) {
    least = std::min(least, get(item));
    most = std::max(most, get(item));
  }
  return {least, most};
}

/// The most that any reading saw; null if none was told.
Json most_other_processes(const std::vector<gpu::DeviceClocks>& readings) {
  std::optional<int> most;
  for (const gpu::DeviceClocks& clocks : readings) most = std::max(most, clocks.other_processes);
  return most ? Json(*most) : Json();
}

}  // namespace

ClockWatch::ClockWatch(ReadDeviceClocks read_gpu)
    : read_gpu_(std::move(read_gpu)), cpus_(usable_cpus()) {
  throttle_events_before_ = throttle_events(cpus_);
}

void ClockWatch::read() {
  if (const auto mhz = mean_cpu_mhz(cpus_)) cpu_mhz_.push_back(*mhz);
  if (read_gpu_) {
    const gpu::DeviceClocks clocks = read_gpu_();
    if (clocks.is_known) gpu_.push_back(clocks);
  }
  last_look_seconds_ = since_start_.seconds();
}

void ClockWatch::look() {
  const bool is_first = last_look_seconds_ == 0;
  if (is_first || since_start_.seconds() - last_look_seconds_ >= kSecondsBetweenLooks) read();
}

Json ClockWatch::finish() {
  read();
  const auto events_after = throttle_events(cpus_);
  Json others = others_.finish();
  others["gpu_processes"] = most_other_processes(gpu_);
  Json events = nullptr;
  if (throttle_events_before_ && events_after) events = *events_after - *throttle_events_before_;
  bool is_throttled = events.is_number() && events.get<std::int64_t>() > 0;
  Json gpu = nullptr;
  if (!gpu_.empty()) {
    std::set<std::string> reasons;
    for (const gpu::DeviceClocks& clocks : gpu_) {
      if (!clocks.throttled_by.empty()) reasons.insert(clocks.throttled_by);
    }
    is_throttled = is_throttled || !reasons.empty();
    gpu = {{"sm_clock_mhz", range_of(gpu_, [](const auto& c) { return c.sm_clock_mhz; })},
           {"memory_clock_mhz", range_of(gpu_, [](const auto& c) { return c.memory_clock_mhz; })},
           {"temperature_celsius", gpu_.back().temperature_celsius},
           {"power_watts", gpu_.back().power_watts},
           {"throttled_by", reasons}};
  }
  return {{"throttled", is_throttled},
          {"cpu",
           {{"clock_mhz", range_of(cpu_mhz_, [](double mhz) { return mhz; })},
            {"throttle_events", events}}},
          {"gpu", gpu},
          {"others", others}};
}

}  // namespace csrkit
