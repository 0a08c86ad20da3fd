// What the tools take that multiply nothing: csr-import, csr-reorder, csr-report.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// What of a matrix decides what those tools take.
struct MatrixSizes {
  Index rows = 0;
  Index cols = 0;
  Offset nnz = 0;
  ValueKind kind = ValueKind::f32;
  bool is_symmetric = false;  // known to have a symmetric pattern

  std::uint64_t bytes() const;  // as CsrMatrix::size_bytes counts them
};

/// Bytes beside the process, and seconds on a slow core, reading and writing included.
struct ToolForecast {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// csr-import that makes this matrix of text, whose entries come in any order: the most that any
/// format takes.
ToolForecast forecast_import(const MatrixSizes& sizes, int threads);

/// csr-reorder by this method. Throws UsageError for a name that there is not.
ToolForecast forecast_reordering(const MatrixSizes& sizes, const std::string& method, int threads);

/// csr-report that draws this matrix, the largest of its bundles; Python is in `bytes`.
ToolForecast forecast_report(const MatrixSizes& sizes);

}  // namespace csrkit
