// The check of CSR row offsets that matrices and importers share.
#pragma once

#include <string>

#include "core/base/types.h"

namespace csrkit {

/// Throws InputError unless `row_offsets` (rows + 1 of them) begin with 0, never decrease and end
/// with `nnz`: only then is it safe to follow them. The message begins with `where` and ends with
/// `advice`. Parallel.
void require_row_offsets(const Offset* row_offsets, Index rows, Offset nnz,
                         const std::string& where, const std::string& advice);

}  // namespace csrkit
