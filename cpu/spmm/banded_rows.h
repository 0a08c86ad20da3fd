// Rows of C from a copy of A in bands of columns, for every vector unit there is.
#pragma once

#include "cpu/spmm/banded_copy.h"
#include "cpu/spmm/row_kernels.h"

namespace csrkit::cpu {

/// The sums that wait for the next band for each column of a row: one for each chain.
inline constexpr Index kMostWaiting = 4;

/// Columns [col, col + cols) of rows of C whose entries lie in a BandedCopy.
struct BandsWanted {
  BandedRows rows;
  Index col, cols;
  RowSettings how;
};

/// Makes rows of C, for plus_times, with the bits of RowKernels::rows. x.a has the offsets of A and
/// the entries of its copy. `waiting`: room for kMostWaiting sums a column (columns rounded up to
/// vectors) of all the rows; one a column where C is wider than four vectors.
template <class Kinds>
using BandedLoop = void (*)(const Operands<Kinds>& x, const BandsWanted& wanted,
                            typename Kinds::Acc* waiting);

/// Defined for B and C in f32 and in f64.
template <class Kinds>
BandedLoop<Kinds> banded_loop(Isa isa);

}  // namespace csrkit::cpu
