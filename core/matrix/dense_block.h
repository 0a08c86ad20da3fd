// A block of a dense matrix that nobody holds as a whole.
#pragma once

#include <cstdint>

#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// Fills `block` with what fill_random would put where it lies in the whole matrix, at (first_row,
/// first_col) and onwards. Host memory only.
void fill_random_block(DenseView block, std::uint64_t seed, Index first_row, Index first_col);

}  // namespace csrkit
