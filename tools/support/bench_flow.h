// The benchmark: every case through multiply_flow, one record each, a table at the end.
#pragma once

#include <string>
#include <vector>

#include "tools/support/json.h"
#include "tools/support/kernel_room.h"
#include "tools/support/matrix_input.h"
#include "tools/support/multiply_flow.h"

namespace csrkit {

struct BenchKernel {
  std::string full_name;
  const SpmmKernel* kernel;
};

struct BenchOptions {
  std::vector<std::string> matrices;
  CsrReadOptions read;
  std::vector<BenchKernel> kernels;
  std::vector<Index> dense_cols;
  std::vector<bool> caches_cold;  // which states are measured
  MultiplyRequest multiply;       // what all cases share
  std::string records;            // "" = none
  std::string against;            // full name of the kernel that ratios refer to, or ""
  bool is_resumed = false;
  bool as_json = false;
  std::vector<std::string> command_line;

  bool needs_gpu() const;
};

BenchOptions parse_bench_options(int argc, const char* const* argv,
                                 const std::vector<KernelRoom>& rooms);

/// Runs what is not recorded yet. Returns 1 if a case failed; the others are measured all the same.
int run_bench(const BenchOptions& options, const Json& machine);

}  // namespace csrkit
