// A small part of a matrix in which an ordering finds what it would find in the whole.
#pragma once

#include "core/csr_matrix.h"

namespace csrkit::reorder {

struct Snowball {
  CsrMatrix matrix;        // in the order of the whole; columns that nobody reads are left out
  bool is_whole = false;   // the matrix was small enough
  double entry_share = 1;  // nonzeros of the sampled rows over those of the whole
  double inside_share =
      1;  // of the nonzeros of the whole, how many an order of such balls can serve
};

/// Vertices around a few random ones, until their rows have about `entries` nonzeros: unlike a random
/// set it keeps neighbourhoods together, and with them everything that an ordering lives on. The next
/// vertex is the one with the largest share of its entries (as far as they are known) leading into
/// the ball, so that a ball fills one community before it leaks into others. Long rows (16 times the
/// mean) are taken when it is their turn but not followed: behind a hub everything is near. A square
/// matrix keeps the entries between its vertices; a rectangular one (rows that share a column are
/// neighbours) all entries of its rows. Deterministic by seed.
Snowball snowball(const CsrMatrix& matrix, Offset entries, std::uint64_t seed);

}  // namespace csrkit::reorder
