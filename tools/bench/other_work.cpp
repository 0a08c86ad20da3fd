#include "tools/bench/other_work.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/text.h"
#include "tools/cli/report.h"

namespace csrkit {

namespace {

/// CPU time of everything on the machine since it started: the first line of /proc/stat without its
/// idle time, the fourth number, and the time in which it waited for disks, the fifth.
std::optional<double> busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string name;
  if (!(stat >> name) || name != "cpu") return std::nullopt;
  double ticks = 0, number = 0;
  constexpr int kIdle = 3, kWaiting = 4, kNumbers = 8;  // those behind are in the others already
  for (int i = 0; i < kNumbers && stat >> number; ++i) {
    if (i != kIdle && i != kWaiting) ticks += number;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

Json load_of_last_minute() {
  std::ifstream file("/proc/loadavg");
  double load = 0;
  return file >> load ? Json(load) : Json();
}

}  // namespace

std::string disturbed_by(const Json& others) {
  constexpr double kDisturbingCpus = 0.5;  // of those that others kept busy
  std::string text;
  const Json& cpus = others["cpus"];
  if (cpus.is_number() && cpus.get<double>() >= kDisturbingCpus) {
    text = fixed(cpus.get<double>(), 1) + " CPUs";
  }
  const Json& processes = others["gpu_processes"];
  if (processes.is_number() && processes.get<int>() > 0) {
    const int count = processes.get<int>();
    append_item(text,
                std::to_string(count) + (count == 1 ? " process" : " processes") + " on the GPU",
                " and ");
  }
  return text;
}

OtherWork::OtherWork() : busy_seconds_before_(busy_seconds()), own_seconds_before_(own_seconds()) {}

Json OtherWork::finish() const {
  constexpr double kLeastSeconds = 0.1;  // the system counts in hundredths
  const double elapsed = since_start_.seconds();
  const std::optional<double> busy = busy_seconds();
  Json cpus = nullptr;
  if (busy && busy_seconds_before_ && elapsed >= kLeastSeconds) {
    const double own = own_seconds() - own_seconds_before_;
    cpus = std::max(0.0, (*busy - *busy_seconds_before_ - own) / elapsed);
  }
  return {{"cpus", cpus}, {"load", load_of_last_minute()}};
}

}  // namespace csrkit
