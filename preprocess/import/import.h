// Text and binary files of other programs become a CsrMatrix.
#pragma once

#include <string>

#include "core/base/progress.h"
#include "preprocess/import/formats.h"
#include "preprocess/import/source/source_limits.h"

namespace csrkit {

struct ImportOptions {
  std::string format = "auto";  // a name from import_formats(), or detect from content
  Duplicates duplicates = Duplicates::sum;
  std::string value_kind = "auto";  // auto = without loss; none = pattern only; or a kind
  ParameterValues parameters;       // of the format, such as "base" -> "1"
  ProgressCallback progress;
  SourceLimits limits;
};

/// Imports one file or folder, or a pipe if the format can be streamed. Throws InputError
/// ("path:line: ..."), IoError, UsageError (unknown format, a parameter that the format does not
/// take, a bad value).
ImportResult import_matrix(const std::string& path, const ImportOptions& options = {});

}  // namespace csrkit
