// Where a measurement was made: facts for records.
#pragma once

#include "gpu/device/device_info.h"
#include "tools/support/json.h"

namespace csrkit {

/// CPU model, cores this process may use, threads, thread binding, memory, system, csrkit's build.
Json machine_facts(int threads);

Json to_json(const gpu::DeviceInfo& device);

}  // namespace csrkit
