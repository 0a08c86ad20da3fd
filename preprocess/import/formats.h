// The formats that can be imported, and what an import finds in a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/file_digest.h"
#include "core/base/parameters.h"
#include "core/matrix/overflow.h"
#include "core/matrix/sort/coo_to_csr.h"

namespace csrkit {

/// One row of preprocess/import/formats.inc.
struct ImportFormat {
  const char* name;
  const char* summary;
  std::vector<Parameter> parameters = {};
  bool can_stream = false;  // text that is read once, from first to last: pipes will do
};
const std::vector<ImportFormat>& import_formats();

struct ImportResult {
  CsrMatrix matrix;
  std::string format;              // what was detected or asked for
  std::vector<FileDigest> inputs;  // the files that were read
  Offset entries_read = 0;         // entries as stored in the file
  Offset entries_mirrored = 0;     // added for symmetric, skew or inverse edges
  CooToCsrReport repairs;
  Underflow underflow;  // values that their kind keeps as 0; a warning tells of them
  bool is_symmetric_by_format = false;       // the file declares symmetry (pattern and values)
  std::map<std::string, std::string> notes;  // what else a user should know, by short name
  std::vector<std::string> warnings;         // what may be wrong, and how to mend it
  double read_seconds = 0;                   // reading, decompressing and parsing
  double sort_seconds = 0;                   // coordinates to CSR
};

}  // namespace csrkit
