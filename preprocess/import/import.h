// Text and binary files of other programs become a CsrMatrix.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/file_digest.h"
#include "core/base/parameters.h"
#include "core/base/progress.h"
#include "core/matrix/sort/coo_to_csr.h"
#include "preprocess/import/source_limits.h"

namespace csrkit {

struct ImportOptions {
  std::string format = "auto";  // a name from import_formats(), or detect from content
  Duplicates duplicates = Duplicates::sum;
  std::string value_kind = "auto";  // auto = without loss; none = pattern only; or a kind
  ParameterValues parameters;       // of the format, such as "index-base" -> "1"
  ProgressCallback progress;
  SourceLimits limits;
};

struct ImportResult {
  CsrMatrix matrix;
  std::string format;              // what was detected or asked for
  std::vector<FileDigest> inputs;  // the files that were read
  Offset entries_read = 0;         // entries as stored in the file
  Offset entries_mirrored = 0;     // added for symmetric, skew or inverse edges
  CooToCsrReport repairs;
  bool is_symmetric_by_format = false;       // the file declares symmetry (pattern and values)
  std::map<std::string, std::string> notes;  // what else a user should know, by short name
  double read_seconds = 0;                   // reading, decompressing and parsing
  double sort_seconds = 0;                   // coordinates to CSR
};

/// Imports one file or folder. Throws InputError ("path:line: ..."), IoError, UsageError (unknown
/// format, a parameter that the format does not take, a bad value).
ImportResult import_matrix(const std::string& path, const ImportOptions& options = {});

/// One row of preprocess/import/formats.inc.
struct ImportFormat {
  const char* name;
  const char* summary;
  std::vector<Parameter> parameters = {};
};
const std::vector<ImportFormat>& import_formats();

}  // namespace csrkit
