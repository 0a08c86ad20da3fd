#include "tools/cli/process.h"

#include <cstdint>
#include <limits>

#include "core/base/available_memory.h"
#include "core/base/team.h"
#include "core/base/usable_cpus.h"
#include "cpu/common/instruction_set.h"
#include "tools/cli/log.h"
#include "tools/cli/report.h"

namespace csrkit {

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
