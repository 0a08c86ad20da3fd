// How near to each other the entries of a matrix lie, which orderings improve. For reads that hit a
// cache see reuse_distance.h.
#pragma once

#include <cstdint>

#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// All shares are over nonzeros; every mean is 0 for a matrix without nonzeros.
struct LocalityProfile {
  Index bandwidth = 0;  // largest |i - j| over the entries
  Offset envelope = 0;  // "profile": sum over rows of i - first column, where that is left of i
  double mean_distance = 0;              // mean |i - j| / max(rows, cols); 1/3 for random ids
  double entries_per_touched_tile = 0;   // nonzeros per touched 32 x 32 tile
  double entries_per_vector_of_8 = 0;    // per touched 8 x 1 vector: 8 aligned rows of one column
  double entries_per_vector_of_16 = 0;   // per touched 16 x 1 vector
  double distinct_cols_per_window = 0;   // mean over 64-row windows (the last may be shorter)
  double entries_per_window_column = 0;  // nonzeros per column that a 64-row window touches
};

/// One pass, O(nnz). The result is the same for any number of threads. Each thread keeps a number
/// for every column, so fewer run where these would take more room than the matrix.
LocalityProfile locality_profile(const CsrMatrix& matrix);

/// Bytes that locality_profile takes beside the matrix, with `threads` available.
std::uint64_t locality_bytes(Index cols, Offset nnz, int threads);

}  // namespace csrkit
