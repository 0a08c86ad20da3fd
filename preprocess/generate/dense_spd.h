// Dense symmetric positive definite matrices whose eigenvalues are known.
#pragma once

#include <cstdint>

#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// A = H D H with eigenvalues D spaced evenly on a logarithmic scale from 1 / condition to 1, in
/// random order, and H = I - 2 v v' the reflection of a random direction v. Every element is a pure
/// function of seed, row and column; a_ij and a_ji have the same bits. `kind` is f32 or f64. Throws
/// UsageError for a condition below 1.
DenseMatrix generate_dense_spd(Index rows, double condition, ValueKind kind, std::uint64_t seed);

}  // namespace csrkit
