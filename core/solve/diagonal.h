// The inverse of A's diagonal and of its diagonal blocks, for Jacobi preconditioners.
#pragma once

#include <vector>

#include "core/contract/solve.h"

namespace csrkit {

/// 1 / a_ii for every row. Throws VerifyError for the first a_ii that is not above 0 (A is not
/// positive definite then) or whose reciprocal overflows.
std::vector<double> inverse_diagonal(const SolveProblem& problem);

/// The greatest row sum of |a_ij| / a_ii: no eigenvalue of D^-1 A is beyond it (Gershgorin).
double scaled_row_sum_bound(const SolveProblem& problem);

/// The inverse of every diagonal block, dense and symmetric. Rows are listed block by block.
struct InverseBlocks {
  std::vector<Offset> row_begins;    // of each block in `rows`; blocks + 1 numbers
  std::vector<Index> rows;           // ascending in a block
  std::vector<Offset> value_begins;  // of each block in `values`; blocks + 1 numbers
  std::vector<double> values;        // row-major, size x size

  Index blocks() const { return static_cast<Index>(row_begins.size()) - 1; }
  Index size_of_block(Index block) const {
    const auto at = static_cast<std::size_t>(block);
    return static_cast<Index>(row_begins[at + 1] - row_begins[at]);
  }
};

/// Bytes of InverseBlocks for that partition of the rows.
std::uint64_t inverse_blocks_bytes(const RowBlocks& blocks);

/// By Cholesky factorisation, in parallel over blocks; `threads` as in team_size. Throws
/// VerifyError for the first block that is not positive definite.
InverseBlocks inverse_blocks(const SolveProblem& problem, int threads);

}  // namespace csrkit
