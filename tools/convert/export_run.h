// csr-export: its command line and its report.
#pragma once

#include <string>

#include "core/file/csr_file.h"
#include "preprocess/export/export.h"

namespace csrkit {

struct ExportToolOptions {
  std::string input, output;
  ExportOptions how;
  CsrReadOptions read;
  bool as_json = false;
};

/// Throws UsageError; prints and throws Finished for --help, --version and --list.
ExportToolOptions parse_export_options(int argc, const char* const* argv);

/// `lost` is what the format could not hold, as export_matrix says.
void report_export(const ExportToolOptions& options, const CsrMatrix& matrix,
                   const std::string& lost, double write_seconds);

}  // namespace csrkit
