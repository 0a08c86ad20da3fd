// What csr-spmm-cpu and csr-spmm-gpu have in common: options, report, exit code.
#pragma once

#include <string>

#include "tools/support/kernel_room.h"
#include "tools/support/matrix_input.h"
#include "tools/support/multiply_flow.h"
#include "tools/support/options.h"

namespace csrkit {

struct SpmmToolOptions {
  std::string matrix;
  CsrReadOptions read;
  const SpmmKernel* kernel = nullptr;
  MultiplyRequest multiply;
  std::string tune;       // cache file of --tune, "" = do not
  std::string save_plan;  // files, "" = none
  std::string load_plan;
  bool as_json = false;
  std::vector<std::string> command_line;
};

/// `room` decides between the options for CPUs (--threads, --schedule, --chunk) and GPUs (--device).
SpmmToolOptions parse_spmm_options(int argc, const char* const* argv, const KernelRoom& room);

/// Reads the matrix, tunes, loads a plan, multiplies, saves the plan, as the options say; sets
/// options.kernel to the one that was tuned for or loaded. `device` is the model that runs kernels.
MultiplyOutcome run_spmm(SpmmToolOptions& options, const KernelRoom& room,
                         const std::string& device);

/// Prints the outcome and returns the exit code: 1 if the check failed.
int report_spmm(const SpmmToolOptions& options, const KernelRoom& room,
                const MultiplyOutcome& outcome);

}  // namespace csrkit
