// csr-generate: its command line, its work and its report.
#pragma once

#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "preprocess/generate/generate.h"

namespace csrkit {

struct GenerateToolOptions {
  std::string output;
  GenerateOptions generate;
  bool as_json = false;
  std::vector<std::string> command_line;
};

/// Throws UsageError; prints and throws Finished for --help, --version and --list.
GenerateToolOptions parse_generate_options(int argc, const char* const* argv);

struct GenerateRun {
  CsrFile file;
  double generate_seconds = 0, write_seconds = 0;
};

/// Makes the matrix, its flags and its provenance.
GenerateRun generate_file(const GenerateToolOptions& options);

void write_generated(const GenerateToolOptions& options, GenerateRun* run);

void report_generate(const GenerateToolOptions& options, const GenerateRun& run);

}  // namespace csrkit
