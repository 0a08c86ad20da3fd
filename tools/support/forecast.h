// What a product will take: memory, size of the result, time; and the report of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/support/forecast_options.h"

namespace csrkit {

struct ProductForecast {
  Index dense_cols = 0;  // 0: a sparse product
  std::uint64_t output_bytes = 0;
  bool is_output_bounded = false;  // it may be smaller
  std::uint64_t host_peak_bytes = 0;
  std::optional<std::uint64_t> plan_bytes;         // GPU: operands, result and workspace
  std::optional<std::uint64_t> device_peak_bytes;  // GPU: with what the driver takes
  std::optional<double> seconds;                   // of one product
};

/// Bytes of this process that are in memory now; libraries for GPUs, which tools for CPUs do without, are
/// counted if asked for.
std::uint64_t resident_bytes(bool with_device_libraries);

/// One forecast for each width of B, or one of the sparse product.
std::vector<ProductForecast> make_forecasts(const ForecastToolOptions& options,
                                            const GpuForecasts& gpu, const CsrMatrix& stored);

/// Prints the forecasts and the lines for Slurm.
void report_forecasts(const ForecastToolOptions& options, const CsrMatrix& stored,
                      const std::vector<ProductForecast>& forecasts);

}  // namespace csrkit
