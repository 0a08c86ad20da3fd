// What csr-probe measures on the devices of this machine, and what it says.
#pragma once

#include <optional>

#include "tools/cli/json.h"
#include "tools/probe/links.h"
#include "tools/probe/options.h"

namespace csrkit {

/// Measures the devices that the options ask for. `facts` are those of the machine. Throws
/// NoDeviceError if a GPU is asked for by name and there is none.
MachineProfile probe_machine(const ProbeToolOptions& options, const Json& facts);

void report_probe(const ProbeToolOptions& options, const MachineProfile& profile,
                  const std::optional<ProbedLinks>& links, double seconds);

}  // namespace csrkit
