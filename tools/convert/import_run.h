// What csr-import does between its options and its report.
#pragma once

#include "core/file/csr_file.h"
#include "tools/convert/import_options.h"

namespace csrkit {

struct ImportRun {
  ImportResult imported;  // all but its matrix, which moves into `file`
  CsrFile file;
  double transform_seconds = 0, symmetry_seconds = 0, write_seconds = 0;
};

/// Reads the input and makes the changes that the options ask for, in the order of --help.
ImportRun read_and_transform(const ImportToolOptions& options);

/// Writes `run->file`, with a step of provenance.
void write_imported(const ImportToolOptions& options, ImportRun* run);

void report_import(const ImportToolOptions& options, const ImportRun& run);

}  // namespace csrkit
