#include "tools/cli/process.h"

#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

#include "core/base/available_memory.h"
#include "core/base/team.h"
#include "cpu/common/instruction_set.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"

namespace csrkit {

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  } else {  // more processors than a fixed set can name: all that are on line
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string ranges_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

void say_process(int threads, const std::string& memory_limit) {
  if (log_level() != LogLevel::verbose) return;
  const std::uint64_t available = available_memory_bytes();
  log_debug("threads: " + std::to_string(team_size(threads)) + " on cores " +
            ranges_of(usable_cpus()));
  log_debug(std::string("instructions of CPU kernels: ") + cpu::name_of(cpu::chosen_isa()));
  log_debug("memory: " +
            (available == std::numeric_limits<std::uint64_t>::max()
                 ? "the system does not say how much is available"
                 : readable_bytes(static_cast<double>(available)) + " available") +
            ", " + (memory_limit.empty() ? "no limit given" : "limit " + memory_limit));
}

}  // namespace csrkit
