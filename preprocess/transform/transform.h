// Changes of a matrix that users ask for at import.
#pragma once

#include <cstdint>

#include "core/matrix/csr_matrix.h"
#include "core/matrix/overflow.h"

namespace csrkit {

/// A + A^T without doubling: where only one of a_ij, a_ji is stored it appears in both places;
/// where both are, each keeps its own value (so the pattern is symmetric, and the values are if
/// they were).
CsrMatrix symmetrize(const CsrMatrix& matrix);

/// A value of 1 on every diagonal position that is not stored; stored ones stay. Square only.
CsrMatrix add_self_loops(const CsrMatrix& matrix);

/// The matrix without the entries of its diagonal.
CsrMatrix drop_self_loops(const CsrMatrix& matrix);

/// D^-1/2 A D^-1/2 with D the row sums of |A| (Kipf, Welling 2017), computed in float64; rows and
/// columns of sum 0 become 0. Kind none becomes f32. Square only. Self loops are the caller's
/// choice. Throws InputError for a finite value whose result the kind cannot hold; `underflow` gets
/// those other than 0 that it keeps as 0.
CsrMatrix gcn_normalize(const CsrMatrix& matrix, Underflow* underflow = nullptr);

/// Values uniform in [-1, 1), a pure function of (seed, row, column). Kind none becomes f32.
CsrMatrix randomize_values(const CsrMatrix& matrix, std::uint64_t seed);

/// Every value 1, in the kind it has.
CsrMatrix set_ones(const CsrMatrix& matrix);

}  // namespace csrkit
