// The command line of csr-forecast.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "tools/forecast/other_tools.h"
#include "tools/operation/product/operation.h"

namespace csrkit {

/// The tool that is forecast.
enum class ForecastOf { product, bench, import, reorder, report };

struct ForecastToolOptions {
  explicit ForecastToolOptions(Options declared) : options(std::move(declared)) {}

  Options options;  // what the operation reads itself
  ForecastOf of = ForecastOf::product;
  std::vector<std::string> matrices;  // one or two, or none with `sizes`
  std::optional<MatrixSizes> sizes;
  std::vector<NamedKernel> kernels;  // of csr-bench some, of a product one, else none
  std::string method;                // of csr-reorder
  bool is_of_ranks = false;          // --ranks: a report of its own, rank_report.h
  bool is_cold = false;              // of csr-bench
  double max_seconds = 0;            // of csr-bench, per case
  Request request;
  std::optional<MachineProfile> machine;
  CsrReadOptions read;
  std::uint64_t process_bytes = 0;  // in memory before there is any matrix
  bool as_json = false;

  const NamedKernel& kernel() const { return kernels.front(); }
  bool is_gpu() const {
    return std::any_of(kernels.begin(), kernels.end(),
                       [](const NamedKernel& kernel) { return kernel.needs_gpu(); });
  }
};

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv);

}  // namespace csrkit
