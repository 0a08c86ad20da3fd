// Where a measurement was made: facts for records.
#pragma once

#include <string>

#include "core/contract/plan.h"
#include "gpu/device/device_info.h"
#include "tools/cli/json.h"

namespace csrkit {

/// CPU model, cores this process may use, threads, thread binding, memory, system, csrkit's build.
Json machine_facts(int threads);

/// As the system calls it; "unknown" if it does not say.
std::string cpu_model();

/// What kernels of a room run on, as far as their times depend on it: the GPU's model, or the CPU's
/// with threads and instruction set. Throws NoDeviceError.
std::string device_name(const std::string& room, const Execution& where);

Json to_json(const gpu::DeviceInfo& device);

}  // namespace csrkit
