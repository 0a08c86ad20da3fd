// A sample of a matrix in which orderings find what they would find in the whole.
#pragma once

#include "core/matrix/csr_matrix.h"

namespace csrkit::reorder {

struct Snowball {
  CsrMatrix matrix;        // in the order of the whole; columns without entries are left out
  bool is_whole = false;   // the matrix was small enough
  double entry_share = 1;  // nonzeros of the sampled rows / nonzeros of the whole
  /// Share of the nonzeros of the whole that an order of such balls can serve.
  double inside_share = 1;
};

/// Grows balls of vertices around a few random ones, until their rows have about `entries`
/// nonzeros. Unlike a random set, balls keep neighbourhoods together, and orderings live on these.
/// The next vertex is the one with the largest known share of entries leading into the ball, so
/// that a ball fills one community before it leaks into others. Rows longer than 16 times the mean
/// are taken in their turn but not followed: behind a hub everything is near. A square matrix keeps
/// the entries between the sampled vertices. In a rectangular one rows that share a column are
/// neighbours, and all entries of the sampled rows are kept. Deterministic by seed.
Snowball snowball(const CsrMatrix& matrix, Offset entries, std::uint64_t seed);

}  // namespace csrkit::reorder
