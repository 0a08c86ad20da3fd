// Rows of C from rows of A, for every vector unit there is: the inner loops of nnz_balanced.
#pragma once

#include "cpu/common/instruction_set.h"
#include "cpu/common/operator_plan.h"

namespace csrkit::cpu {

/// The most of C that waits in the first cache to go past the others, where rows of C do not lie on
/// vectors; longer rows do not.
inline constexpr Offset kStagedBytes = 16384;

/// What may be set about the inner loops; no setting changes a bit of the result.
struct RowSettings {
  Offset prefetch_bytes = 4096;  // rows of B are asked for this much work ahead; 0 = not at all
  bool streams_c = false;        // C is written past the caches where its rows lie on vectors, and
  bool stages_c = true;          // elsewhere, if they follow each other without gaps
  bool foresees_ends = false;    // most rows are as long as the row before
};

/// Columns [col, col + cols) of rows [first, last) of C. `col` is a multiple of 32 elements or 0.
struct RowsWanted {
  Index first, last;
  Index col, cols;
  RowSettings how;
  const std::uint8_t* alike = nullptr;  // where not 0, the next row has this row's columns; or null
};

/// The sums over entries [begin, end), all of one row, for columns [col, col + cols).
struct StretchWanted {
  Offset begin, end;
  Index col, cols;
  RowSettings how;
};

/// Entries [begin, end) of row `row` of A, for columns [col, col + cols) of B; the sums of column j
/// of A are row j - origin of a matrix with `cols` columns or more.
struct ScatterWanted {
  Index row;
  Offset begin, end;
  Index col, cols;
  Offset origin;
};

/// The inner loops for one combination of kinds, one instruction set and one semiring. The order in
/// which an element of C is summed depends on its row's length, the width of C and the instruction
/// set, not on how rows, columns and threads are shared out.
template <class Kinds>
struct RowKernels {
  using Acc = typename Kinds::Acc;
  /// Rows of C, finished.
  void (*rows)(const Operands<Kinds>& x, const RowsWanted& wanted);
  /// Sums before alpha and beta; column j goes to sums[j].
  void (*stretch)(const Operands<Kinds>& x, const StretchWanted& wanted, Acc* sums);
  /// Adds every entry times row `row` of B to the sums of the entry's column: A^T * B, row by row.
  void (*scatter)(const Operands<Kinds>& x, const ScatterWanted& wanted, Acc* sums,
                  Offset sums_leading_dim);
  /// Reads what `stretch` reads, and makes nothing of it: for the gather mark. Null where the inner
  /// loops are not vectors.
  void (*gather)(const Operands<Kinds>& x, const StretchWanted& wanted, Acc* sums);
  /// What an empty sum is in the semiring.
  Acc empty_sum;
  /// sums[j] += more[j], in the semiring.
  void (*combine)(Acc* sums, const Acc* more, Index count);
};

/// Defined for every legal combination of kinds.
template <class Kinds>
RowKernels<Kinds> row_kernels(Isa isa, Semiring semiring);

/// with_spmm_kinds, for kernels with kNarrowOperands.
template <class F>
auto with_row_kinds(const SpmmProblem& problem, F&& f) {
  if (!has_narrow_operands(problem)) return with_spmm_kinds(problem, f);
  const auto beside_f32 = [&](auto tag) {
    using B = typename decltype(tag)::type;
    return problem.c == problem.b ? f(SpmmKinds<float, B, B, float>{})
                                  : f(SpmmKinds<float, B, float, float>{});
  };
  return problem.b == ValueKind::f16 ? beside_f32(TypeTag<f16>{}) : beside_f32(TypeTag<bf16>{});
}

}  // namespace csrkit::cpu
