// What a product will take: memory, size of the result, time; and the report of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/forecast/options.h"

namespace csrkit {

struct RunForecast {
  Forecast product;                                // of csr-bench the largest, of others none
  std::uint64_t host_peak_bytes = 0;               // with the process
  std::optional<std::uint64_t> device_peak_bytes;  // GPU: with what the driver takes
  double run_seconds = 0;                          // of the whole run, on a slow machine
};

/// Bytes of this process that are in memory now; libraries for GPUs, which tools for CPUs do
/// without, are counted if asked for.
std::uint64_t resident_bytes(bool with_device_libraries);

/// One forecast for each width that the options name. Reads the matrices of products.
std::vector<RunForecast> make_forecasts(const ForecastToolOptions& options);

/// Prints the forecasts and the lines for Slurm.
void report_forecasts(const ForecastToolOptions& options,
                      const std::vector<RunForecast>& forecasts);

}  // namespace csrkit
