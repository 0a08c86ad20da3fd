// A CsrMatrix becomes a file of another program.
#pragma once

#include <string>
#include <vector>

#include "core/csr_matrix.h"
#include "core/progress.h"

namespace csrkit {

/// Writes atomically. Formats that cannot hold everything (values, direction, self loops) throw
/// UsageError that says what would be lost, unless `allow_loss`. Returns what was lost, "" if
/// nothing.
std::string export_matrix(const std::string& path, const CsrMatrix& matrix,
                          const std::string& format, bool allow_loss,
                          const ProgressCallback& progress = {});

/// One row of preprocess/export/formats.inc. `extension` chooses the format for `--format auto`.
struct ExportFormat {
  const char* name;
  const char* extension;
  const char* summary;
};
const std::vector<ExportFormat>& export_formats();

}  // namespace csrkit
