// The command line of csr-forecast.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "tools/forecast/profile_file.h"
#include "tools/operation/operation.h"

namespace csrkit {

struct ForecastToolOptions {
  explicit ForecastToolOptions(Options declared) : options(std::move(declared)) {}

  Options options;                    // what the operation reads itself
  std::vector<std::string> matrices;  // one or two
  NamedKernel kernel;
  Request request;
  std::optional<MachineProfile> machine;
  CsrReadOptions read;
  std::uint64_t process_bytes = 0;  // in memory before there is any matrix
  bool as_json = false;

  bool is_gpu() const { return kernel.needs_gpu(); }
};

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv);

}  // namespace csrkit
