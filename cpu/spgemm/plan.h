// The one adapter between the contract of core/contract/spgemm.h and the kernels here. It owns what
// every plan has alike (op(B) stored by rows, phases and clocks, the memory limit, blocks of rows,
// the sink), so that a kernel file is about its rows alone: it offers one factory,
//
//   std::unique_ptr<SpgemmMethod> make_spgemm_<name>(const SpgemmInput& input);
//
// and becomes a row of kernels.inc.
#pragma once

#include <memory>
#include <string>

#include "core/contract/spgemm.h"
#include "cpu/spgemm/analysis/row_work.h"
#include "cpu/spgemm/one_pass/one_pass.h"

namespace csrkit::cpu {

/// What a kernel is made from. `op_b` is stored by rows of op(B): problem.transpose_b is dealt
/// with.
struct SpgemmInput {
  const SpgemmProblem& problem;
  CsrMatrix op_b;
  int threads = 1;
};

/// Where the entries of some rows go: row `first_row + i` fills [row_offsets[i], row_offsets[i +
/// 1]) of the other two.
struct SpgemmRows {
  Index first_row = 0;
  Index last_row = 0;  // one past
  const Offset* row_offsets = nullptr;
  Index* col_indices = nullptr;
  void* values = nullptr;  // of the problem's C kind
};

/// A kernel: rows of C from rows of A, every row the same bits whoever computes it and in whatever
/// block.
class SpgemmMethod {
 public:
  virtual ~SpgemmMethod() = default;

  /// Shares out the work.
  virtual void balance(RowWork work) = 0;

  /// Most bytes that count and fill keep beside what they are given; known once balanced.
  virtual std::uint64_t scratch_bytes() const = 0;

  /// row_nnz[i] = entries of row i of C.
  virtual void count(Index* row_nnz) = 0;

  /// Columns, ascending, and values. The offsets are what count found.
  virtual void fill(const SpgemmRows& rows) = 0;

  /// For methods that can make rows before they are counted, else null. After balance.
  virtual OnePassRows* one_pass() { return nullptr; }

  /// New values in the same structure.
  virtual void set_values(const CsrMatrix& a, const CsrMatrix& op_b) = 0;

  virtual std::string choice() const { return {}; }
  virtual std::string chosen_kernel() const { return {}; }  // as in Plan
};

/// What the rungs of the ladder can do: they are about the rows, not about what is left out of
/// them.
inline constexpr Capabilities kSpgemmLadder =
    kSpgemmKinds | kTranspose | kAlphaBeta | kDeterministic | kReuse | kRowBlocks;

using SpgemmMethodFactory = std::unique_ptr<SpgemmMethod> (*)(const SpgemmInput&);

std::unique_ptr<SpgemmPlan> make_cpu_spgemm_plan(const SpgemmProblem& problem,
                                                 const PlanOptions& options,
                                                 SpgemmMethodFactory make_method);

}  // namespace csrkit::cpu
