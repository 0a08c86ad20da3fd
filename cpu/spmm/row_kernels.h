// Rows of C from rows of A, for every vector unit there is: the inner loops of nnz_balanced.
#pragma once

#include "cpu/spmm/plan.h"

namespace csrkit::cpu {

/// Instruction sets that the inner loops are compiled for.
enum class Isa : std::uint8_t { portable, avx2, avx512 };
const char* name_of(Isa isa);

/// Whether this machine has it.
bool is_supported(Isa isa);

/// The widest set of this machine, or what the environment variable CSRKIT_CPU_ISA names (portable,
/// avx2 or avx512; for tests and comparisons). Throws UsageError if that is not to be had here.
Isa chosen_isa();

/// The inner loops for one combination of kinds, one instruction set and one semiring. Every
/// element of C is summed in the order of its row of A, whoever calls.
template <class Kinds>
struct RowKernels {
  using Acc = typename Kinds::Acc;
  /// Rows [first, last) of C, finished.
  void (*rows)(const Operands<Kinds>& x, Index first, Index last);
  /// The sums over entries [begin, end), all of one row, for every column; before alpha and beta.
  void (*stretch)(const Operands<Kinds>& x, Offset begin, Offset end, Acc* sums);
  /// sums[j] += more[j], in the semiring.
  void (*combine)(Acc* sums, const Acc* more, Index count);
};

/// Defined for every legal combination of kinds.
template <class Kinds>
RowKernels<Kinds> row_kernels(Isa isa, Semiring semiring);

}  // namespace csrkit::cpu
