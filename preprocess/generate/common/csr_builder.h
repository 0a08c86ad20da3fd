// What patterns share: row offsets, values, symmetric patterns.
#pragma once

#include "core/matrix/csr_matrix.h"
#include "preprocess/generate/common/pattern.h"

namespace csrkit {

/// Throws MemoryError unless there is room for what is made next: offsets of `rows`, and `entries`
/// of `entry_bytes` each. The system gives memory that it does not have, and ends the process, or
/// another one, when it is filled.
void require_room(Offset rows, Offset entries, int entry_bytes);

/// offsets[i + 1] - offsets[i] = lengths[i]. Throws MemoryError if there is no room for the columns
/// of so many entries.
Buffer<Offset> offsets_of(const Buffer<Index>& lengths);

/// A random bijection of {0, ..., size - 1}.
Buffer<Index> random_order(Index size, std::uint64_t seed);

/// How random values are drawn: independently; equal at (i, j) and (j, i); or equal, with a
/// diagonal of 1 + the sum of the row's other magnitudes, which makes a symmetric pattern positive
/// definite.
enum class ValueRule { independent, symmetric, symmetric_dominant };

/// Gives a pattern its values (a pure function of seed, row and column) and makes the matrix.
CsrMatrix finish_matrix(Index rows, Index cols, Buffer<Offset> row_offsets,
                        Buffer<Index> col_indices, const PatternRequest& request, ValueRule rule);

struct CsrPattern {
  Buffer<Offset> row_offsets;
  Buffer<Index> col_indices;
};

/// The pattern of D + D^T of a square matrix, without D's diagonal. With `edges` >= 0 exactly that
/// many edges {i, j} are kept, chosen at random; `*found` gets how many there are, and where that
/// is too few the result is empty.
CsrPattern symmetric_pattern(const CsrMatrix& drawn, Offset edges, bool add_diagonal,
                             std::uint64_t seed, Offset* found);

}  // namespace csrkit
