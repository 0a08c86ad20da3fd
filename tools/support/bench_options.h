// The command line of csr-bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/support/bench_case.h"
#include "tools/support/kernel_room.h"
#include "tools/support/matrix_input.h"

namespace csrkit {

struct BenchOptions {
  std::vector<std::string> matrices;
  CsrReadOptions read;
  std::vector<BenchKernel> kernels;
  std::vector<Index> dense_cols;
  std::vector<bool> caches_cold;                      // which states are measured
  std::vector<std::optional<ValueKind>> value_kinds;  // nullopt = as stored
  MultiplyRequest multiply;                           // what all cases share
  std::string records;                                // "" = none
  std::string tune;                                   // cache file for kernels called auto, or ""
  std::string against;   // full name of the kernel that ratios refer to, or ""
  std::string verified;  // the bundle to measure again, or ""
  double tolerance = 0;  // of --verify, as a share
  int attempts = 1;      // of --verify
  bool is_resumed = false;
  bool as_json = false;
  std::vector<std::string> command_line;

  bool needs_gpu() const;
};

BenchOptions parse_bench_options(int argc, const char* const* argv, const BenchRooms& rooms);

}  // namespace csrkit
