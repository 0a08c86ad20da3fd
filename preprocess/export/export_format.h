// What one row of formats.inc provides.
#pragma once

#include <string>

#include "core/base/progress.h"
#include "core/matrix/csr_matrix.h"
#include "preprocess/export/formats.h"

namespace csrkit {

/// The arguments of every writer.
struct WriteRequest {
  const Parameters& parameters;  // of the format
  const ProgressCallback& progress;
};

/// One row of formats.inc. `loss` says what the format cannot hold of this matrix, "" if it holds
/// all; a change of value kind that loses no number, and that an import option undoes, is no loss.
/// It throws UsageError if the matrix cannot be written at all. `write` writes what the format can
/// hold, atomically.
struct FormatWriter {
  ExportFormat format;
  std::string (*loss)(const CsrMatrix& matrix, const Parameters& parameters);
  void (*write)(const std::string& path, const CsrMatrix& matrix, const WriteRequest& request);
};

// Declares loss_<stem> and write_<stem> of every format.
#define CSRKIT_EXPORT_FORMAT(stem, ...)                                           \
  std::string loss_##stem(const CsrMatrix& matrix, const Parameters& parameters); \
  void write_##stem(const std::string& path, const CsrMatrix& matrix, const WriteRequest& request);
#include "preprocess/export/formats.inc"
#undef CSRKIT_EXPORT_FORMAT

}  // namespace csrkit
