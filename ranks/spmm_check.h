// Is a rank's part of C right? Sampled rows, entry by entry against float64 within the derived
// bound, with rows of B that do not come from the exchange.
#pragma once

#include <functional>

#include "core/judge/compare.h"
#include "ranks/spmm.h"

namespace csrkit::ranks {

/// Fills one row of B, as numbered in the whole matrix, in the rank's columns and of B's kind.
using RowOfB = std::function<void(Index row, DenseView to)>;

/// The rows of B as the last product read them: the rank's own, and those that it received.
RowOfB rows_as_received(SpmmRank& rank);

/// A row of A, as numbered in the whole matrix, with all of its entries.
using RowOfA = std::function<CsrMatrix(Index row)>;

/// Checks the first row, the last, the longest, the one with the longest halo, and random ones, as
/// far as `work_limit` multiplications go. A failure names rows of the whole matrix. A rank has not
/// all entries of a split row: one of its own is checked if `row_of_a` gives the entries.
CheckResult check_sampled_rows(SpmmRank& rank, const RowOfB& row_of_b, const RowOfA& row_of_a = {},
                               std::uint64_t work_limit = 1u << 25, std::uint64_t seed = 1);

}  // namespace csrkit::ranks
