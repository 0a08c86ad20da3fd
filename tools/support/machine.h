// Where a measurement was made: facts for records.
#pragma once

#include <string>
#include <vector>

#include "gpu/device/device_info.h"
#include "tools/support/json.h"

namespace csrkit {

/// The numbers of the cores this process may use (its affinity mask).
std::vector<int> usable_cpus();

/// CPU model, cores this process may use, threads, thread binding, memory, system, csrkit's build.
Json machine_facts(int threads);

/// As the system calls it; "unknown" if it does not say.
std::string cpu_model();

Json to_json(const gpu::DeviceInfo& device);

}  // namespace csrkit
