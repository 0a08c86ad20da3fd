// For code that keeps a number per column: a matrix of a few entries may have 2^31 - 1 columns.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The columns with an entry, and the same pattern in these alone.
struct FilledColumns {
  CsrMatrix pattern;   // without values, its row offsets those of the matrix
  Buffer<Index> cols;  // cols[i] in the matrix is column i of `pattern`; ascending
};

/// Whether there are more columns than entries, so that `filled_columns` takes less memory.
inline bool is_hypersparse(const CsrMatrix& matrix) { return matrix.cols() > matrix.nnz(); }

/// O(nnz log nnz) time and O(nnz) memory, whatever the number of columns.
FilledColumns filled_columns(const CsrMatrix& matrix);

}  // namespace csrkit
