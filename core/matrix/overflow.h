// Values that would be lost in a narrower kind: finite ones that become infinite, others that
// become 0.
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

/// Values other than 0 of which only 0 is left.
struct Underflow {
  Offset count = 0;
  std::string first;  // "1e-50 in row 0, column 3 (counted from 0)"; readers name a line
};

/// What convert_values would make 0.
Underflow underflow_in(const CsrMatrix& matrix, ValueKind kind, int threads = 0);
Underflow underflow_in(ConstDenseView dense, ValueKind kind, int threads = 0);

/// "1e-50 in row 0, column 3 (counted from 0)": entry `at` of the matrix, with `value`.
std::string place_of(const CsrMatrix& matrix, Offset at, double value);

/// "2 values too small for f16, the first 1e-50 in row 0, column 3 (counted from 0)"; "" if there
/// is none.
std::string text_of(const Underflow& underflow, ValueKind kind);

}  // namespace csrkit
