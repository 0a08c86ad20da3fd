// Values that are finite and would not be so in a narrower kind.
#pragma once

#include <string>

#include "core/matrix/csr_matrix.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// "2 values beyond the range of f16, the first 1e+300 in row 0, column 3 (counted from 0)": what
/// convert_values would make infinite; "" if there is nothing. `threads` as in team_size.
std::string overflow_in(const CsrMatrix& matrix, ValueKind kind, int threads = 0);

/// The same for a dense matrix in host memory.
std::string overflow_in(ConstDenseView dense, ValueKind kind, int threads = 0);

}  // namespace csrkit
