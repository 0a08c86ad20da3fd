// The command line of csr-forecast.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/support/kernel_room.h"
#include "tools/support/matrix_input.h"
#include "tools/support/multiply_flow.h"
#include "tools/support/profile_file.h"
#include "tools/support/spgemm_tool.h"

namespace csrkit {

/// What a build with CUDA knows of products on a GPU; all null in one without.
struct GpuForecasts {
  const std::vector<SpmmKernel>* spmm = nullptr;
  const std::vector<SpgemmKernel>* spgemm = nullptr;
  std::uint64_t (*spmm_bytes)(const std::string&, const SpmmProblem&) = nullptr;
  SpgemmForecast (*spgemm_forecast)(const std::string&, const SpgemmProblem&, Offset output_nnz,
                                    std::uint64_t limit_bytes) = nullptr;
};

struct ForecastToolOptions {
  std::string a;
  std::string b;  // "" = A
  bool is_spgemm = false;
  bool is_gpu = false;
  bool is_bounded = false;  // spgemm: C is bounded, not counted
  std::string kernel;       // its name in the registry
  std::vector<Index> dense_cols;
  MultiplyRequest multiply;
  std::optional<MachineProfile> machine;
  CsrReadOptions read;
  std::uint64_t process_bytes = 0;  // in memory before there is any matrix
  bool as_json = false;
};

ForecastToolOptions parse_forecast_options(int argc, const char* const* argv,
                                           const GpuForecasts& gpu);

}  // namespace csrkit
