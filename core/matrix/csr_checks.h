// The checks of CSR arrays, for whoever knows what to advise: `validate` advises to import again.
#pragma once

#include <string>

#include "core/base/types.h"

namespace csrkit {

/// Throws InputError unless `row_offsets` (rows + 1 of them) begin with 0, never decrease and end
/// with `nnz`: only then is it safe to follow them. The message begins with `where` and ends with
/// `advice`. Parallel.
void require_row_offsets(const Offset* row_offsets, Index rows, Offset nnz,
                         const std::string& where, const std::string& advice);

/// Throws InputError, worded alike, unless columns are in [0, cols), ascending and unique in every
/// row. Follows the row offsets, which must be sound. Parallel.
void require_columns(const Offset* row_offsets, const Index* col_indices, Index rows, Index cols,
                     const std::string& where, const std::string& advice);

}  // namespace csrkit
