// The command line of csr-import.
#pragma once

#include <string>
#include <vector>

#include "preprocess/import/import.h"

namespace csrkit {

struct ImportToolOptions {
  std::string input, output;
  ImportOptions import;
  bool transpose = false;
  bool symmetrize = false;
  std::string self_loops;  // "", add, drop
  std::string values = "keep";
  bool gcn_normalize = false;
  std::uint64_t seed = 1;
  bool as_json = false;
  std::vector<std::string> command_line;

  bool keeps_declared_symmetry() const { return values == "keep" && !gcn_normalize; }
};

/// Throws UsageError; prints and throws Finished for --help, --version and --list.
ImportToolOptions parse_import_options(int argc, const char* const* argv);

}  // namespace csrkit
