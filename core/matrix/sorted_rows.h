// Entries that came in any order within their rows, put in order.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The same entries with ascending columns in every row: makes a CsrMatrix of what is none by its
/// invariants. Columns out of range or twice in a row stay, for `validate` to find. `threads` as in
/// team_size.
CsrMatrix with_sorted_rows(const CsrMatrix& matrix, int threads = 0);

}  // namespace csrkit
