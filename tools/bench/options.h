// The command line of csr-bench.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/case.h"

namespace csrkit {

struct BenchOptions {
  std::vector<std::string> matrices;
  CsrReadOptions read;
  std::vector<BenchKernel> kernels;
  std::vector<bool> caches_cold;                      // which states are measured
  std::vector<std::optional<ValueKind>> value_kinds;  // nullopt = as stored
  Request shared;                                     // by all cases
  /// The requests of each operation that has a kernel among those, for every kind and state.
  std::map<const Operation*, std::vector<Request>> requests;
  std::string records;   // "" = none
  std::string tune;      // cache file for kernels called auto, or ""
  std::string against;   // full name of the kernel that ratios refer to, or ""
  std::string verified;  // the bundle to measure again, or ""
  double tolerance = 0;  // of --verify, as a share
  int attempts = 1;      // of --verify
  bool is_resumed = false;
  bool as_json = false;
  std::vector<std::string> command_line;
};

BenchOptions parse_bench_options(int argc, const char* const* argv);

}  // namespace csrkit
