// Inner products of a row of X with the rows of Y that A's entries name, for every vector unit
// there is: the inner loops of nnz_balanced.
#pragma once

#include "cpu/common/instruction_set.h"
#include "cpu/sddmm/plan.h"

namespace csrkit::cpu::sddmm {

/// What the loops read.
template <class T>
struct DotsJob {
  const Offset* row_offsets;
  const Index* col_indices;
  const T* x;
  Offset x_leading_dim;
  const T* y;
  Offset y_leading_dim;
  Index dense_cols;
  Offset ahead;  // rows of Y are prefetched this many entries before they are needed; 0: never
  Offset nnz;    // how far col_indices may be read
};

/// dots[n] = the inner product of entry first + n, for n in [0, count). `row` is the row of the
/// first entry, or an earlier one; returns the row of the last entry. Overwrites up to 3 numbers
/// after the last dot. The order of summation depends on K and the instruction set alone.
template <class T>
using DotsLoop = Index (*)(const DotsJob<T>& job, Index row, Offset first, Offset count,
                           SumOf<T>* dots);
inline constexpr int kDotsAtOnce = 4;

/// Defined for float, double, f16 and bf16.
template <class T>
DotsLoop<T> dots_loop(Isa isa);

}  // namespace csrkit::cpu::sddmm
