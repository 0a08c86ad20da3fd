// The command line of csr-probe.
#pragma once

#include <string>

#include "tools/probe/products.h"

namespace csrkit {

struct ProbeToolOptions {
  std::string output, device;
  std::string cluster;  // where the cluster profile goes; empty: none is made
  ProbeRequest probe;
  bool as_json = false;
};

/// Throws UsageError, and NoDeviceError if a GPU is asked for that this build cannot measure;
/// prints and throws Finished for --help, --version and --list.
ProbeToolOptions parse_probe_options(int argc, const char* const* argv);

}  // namespace csrkit
