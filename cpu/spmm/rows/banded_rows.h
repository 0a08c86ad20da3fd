// Rows of C from a copy of A in bands of columns, for every vector unit there is.
#pragma once

#include <algorithm>

#include "cpu/spmm/rows/banded_copy.h"
#include "cpu/spmm/rows/row_kernels.h"

namespace csrkit::cpu {

/// Columns [col, col + cols) of rows of C whose entries lie in a BandedCopy.
struct BandsWanted {
  BandedRows rows;
  Index col, cols;
  RowSettings how;
};

/// The most vectors, of at most so many bytes, that a block of columns has; and a row of C of so
/// many vectors, of any width, may be summed in two chains.
inline constexpr Index kMostBandedVectors = 16, kVectorBytes = 64, kVectorsInChains = 4;

/// The most sums of a row that wait for the next band, of `cols` columns in one call.
template <class Acc>
constexpr Offset most_waiting(Index dense_cols, Index cols) {
  constexpr Index kWidth = kVectorBytes / static_cast<Index>(sizeof(Acc));
  const Index vectors = std::min((cols - 1) / kWidth + 1, kMostBandedVectors);
  return Offset{vectors} * kWidth * (dense_cols <= kVectorsInChains * kWidth ? 2 : 1);
}

/// Makes rows of C, for plus_times, with the bits of RowKernels::rows. x.a has the offsets of A and
/// the entries of its copy. `waiting`: room for most_waiting sums of each row.
template <class Kinds>
using BandedLoop = void (*)(const Operands<Kinds>& x, const BandsWanted& wanted,
                            typename Kinds::Acc* waiting);

/// Defined for B and C in f32 and in f64.
template <class Kinds>
BandedLoop<Kinds> banded_loop(Isa isa);

}  // namespace csrkit::cpu
