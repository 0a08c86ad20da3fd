// Where a measurement was made: facts for records.
#pragma once

#include <vector>

#include "gpu/device/device_info.h"
#include "tools/support/json.h"

namespace csrkit {

/// The numbers of the cores this process may use (its affinity mask).
std::vector<int> usable_cpus();

/// CPU model, cores this process may use, threads, thread binding, memory, system, csrkit's build.
Json machine_facts(int threads);

Json to_json(const gpu::DeviceInfo& device);

}  // namespace csrkit
