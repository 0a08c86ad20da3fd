// Sorts entries that came in any order within their rows.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The same entries with ascending columns in every row. The offsets must be sound. Columns that
/// are out of range or twice in a row stay, for `validate` to find. `threads` as in
/// team_size.
CsrMatrix with_sorted_rows(const CsrMatrix& matrix, int threads = 0);

}  // namespace csrkit
