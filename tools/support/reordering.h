// Orderings applied to a file: the matrix moves, and the orders since import move with it.
#pragma once

#include <string>

#include "core/csr_file.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit {

enum class Sides { rows, cols, both };

/// "" means both for a square matrix, rows otherwise. Throws UsageError for both on a rectangular one.
Sides sides_of(const std::string& name, const CsrMatrix& matrix);

/// `file` in the order of `method`. Orders in the file are continued, so that they still lead from
/// the matrix at import to the stored one; a partition moves with the rows. For `cols` the method
/// sees the transpose.
CsrFile reordered(const CsrFile& file, const std::string& method, Sides sides,
                  const ReorderOptions& options);

/// `file` in the order at import. Throws UsageError if it was never reordered.
CsrFile restored(const CsrFile& file);

}  // namespace csrkit
