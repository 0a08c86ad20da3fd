// Text and binary files of other programs become a CsrMatrix.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/progress.h"
#include "core/sort/coo_to_csr.h"

namespace csrkit {

/// What a format reads beyond the file itself; a format refuses options it cannot honour
/// (UsageError).
struct ImportOptions {
  std::string format = "auto";  // a name from import_formats(), or detect from content
  Duplicates duplicates = Duplicates::sum;
  std::string value_kind = "auto";  // auto = without loss; none = pattern only; or a kind
  int index_base = -1;              // edge lists: 0, 1, or -1 = 0 unless the format says otherwise
  Index rows = 0, cols = 0;  // edge lists and dumps: sizes if the file does not say; 0 = from ids
  int add_inverse = -1;      // OGB: add every edge reversed; -1 = by dataset
  ProgressCallback progress;
};

/// A file that was read, for provenance.
struct ImportInput {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string xxh3_128;  // hex digest of the bytes as they are on disk
};

struct ImportResult {
  CsrMatrix matrix;
  std::string format;  // what was detected or asked for
  std::vector<ImportInput> inputs;
  Offset entries_read = 0;      // entries as stored in the file
  Offset entries_mirrored = 0;  // added for symmetric, skew or inverse edges
  CooToCsrReport repairs;
  bool is_symmetric_by_format = false;       // the file declares symmetry (pattern and values)
  std::map<std::string, std::string> notes;  // what else a user should know, by short name
  double read_seconds = 0;                   // reading, decompressing and parsing
  double sort_seconds = 0;                   // coordinates to CSR
};

/// Imports one file or folder. Throws InputError ("path:line: ..."), IoError, UsageError.
ImportResult import_matrix(const std::string& path, const ImportOptions& options = {});

/// One row of preprocess/import/formats.inc.
struct ImportFormat {
  const char* name;
  const char* summary;
};
const std::vector<ImportFormat>& import_formats();

}  // namespace csrkit
