// The JSON file of a machine profile: written by csr-probe, named by the user, read by whoever
// forecasts. docs/tools/csr-probe.md lists its keys.
#pragma once

#include <string>

#include "core/facts/machine_profile.h"
#include "tools/cli/json.h"
#include "tools/cli/json_reader.h"

namespace csrkit {

/// The keys are the members' names. `format` is "csrkit machine profile", `version` 1.
Json to_json(const MachineProfile& profile);

/// Throws IoError if the file cannot be read, InputError if it is not such a profile.
MachineProfile read_machine_profile(const std::string& path);

/// One of its devices. Throws InputError.
DeviceProfile device_profile_from(const JsonField& field);

/// The whole file or nothing; `facts` (where and how it was measured) is kept beside the numbers.
void write_machine_profile(const std::string& path, const MachineProfile& profile,
                           const Json& facts);

}  // namespace csrkit
