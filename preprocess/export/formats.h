// The formats that can be exported.
#pragma once

#include <vector>

#include "core/base/parameters.h"

namespace csrkit {

/// One row of preprocess/export/formats.inc. `extension` chooses the format for `--format auto`.
struct ExportFormat {
  const char* name;
  const char* extension;
  const char* summary;
  std::vector<Parameter> parameters = {};
};
const std::vector<ExportFormat>& export_formats();

}  // namespace csrkit
