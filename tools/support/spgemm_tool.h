// What csr-spgemm-cpu and csr-spgemm-gpu have in common: options, operands, report, exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/csr_file.h"
#include "tools/support/options.h"
#include "tools/support/spgemm_flow.h"

namespace csrkit {

/// A registry of SpGEMM kernels under its room's name.
struct SpgemmRoom {
  std::string name;  // "cpu" or "gpu"
  const std::vector<SpgemmKernel>* table = nullptr;

  std::string full_name(const SpgemmKernel& kernel) const;
  /// Accepts "cpu.spgemm.x", "cpu.x" and "x". Throws UsageError that lists the names.
  const SpgemmKernel& find(const std::string& name) const;
};

SpgemmRoom cpu_spgemm_room();

/// The kernels of a room as a table or as JSON.
std::string list_kernels(const SpgemmRoom& room, bool as_json);

struct SpgemmToolOptions {
  std::string a;
  std::string b;     // "" = A
  std::string mask;  // "" = none
  CsrReadOptions read;
  const SpgemmKernel* kernel = nullptr;
  SpgemmRequest multiply;
  bool as_json = false;
  std::vector<std::string> command_line;
};

/// `room` decides between the options for CPUs (--threads) and GPUs (--device).
SpgemmToolOptions parse_spgemm_options(int argc, const char* const* argv, const SpgemmRoom& room);

/// Reads the operands, in the kinds asked for, multiplies and measures.
SpgemmOutcome run_spgemm_tool(const SpgemmToolOptions& options);

/// Prints the outcome and returns the exit code: 1 if the check failed.
int report_spgemm(const SpgemmToolOptions& options, const SpgemmRoom& room,
                  const SpgemmOutcome& outcome);

}  // namespace csrkit
