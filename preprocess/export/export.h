// A CsrMatrix becomes a file of another program.
#pragma once

#include <string>

#include "core/base/progress.h"
#include "core/matrix/csr_matrix.h"
#include "preprocess/export/formats.h"

namespace csrkit {

struct ExportOptions {
  std::string format = "auto";      // a name from export_formats(), or choose by the path's ending
  bool allow_loss = false;          // else a format that cannot hold everything is refused
  ParameterValues parameters = {};  // of the format, such as "base" -> "1"
  ProgressCallback progress = {};
};

/// Writes atomically; text formats write to standard output where `path` is "-". Returns what was
/// lost (values, direction, self loops), "" if nothing. Throws UsageError (unknown format or
/// parameter, bad value, a loss that is not allowed), IoError.
std::string export_matrix(const std::string& path, const CsrMatrix& matrix,
                          const ExportOptions& options = {});

}  // namespace csrkit
