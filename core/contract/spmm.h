// The contract of sparse times dense: C = alpha * op(A) * B + beta * C, plan first, then multiply.
//
// Every implementation, on CPU and GPU, ours and a vendor's, is a row in a KernelTable<Spmm> and is
// used in the same way, so that tools, tests and benchmarks know nothing but this contract:
//
//   auto plan = kernel.make_plan(problem, options);   // analysis, once per matrix
//   plan->bind(b.view(), c.view());                   // operands, host or device memory
//   plan->multiply(alpha, beta);                      // any number of times
//   plan->fetch_output();                             // C is where the caller wants it
#pragma once

#include "core/contract/kernel_table.h"
#include "core/contract/operator.h"
#include "core/contract/semiring.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// What is to be multiplied. Kinds are known only at run time; they become types once, in
/// make_plan.
struct SpmmProblem {
  CsrMatrix a;               // shared, not copied; in host memory, or on the device (kDeviceMatrix)
  Index dense_cols = 0;      // columns of B and C, at least 1
  bool transpose_a = false;  // op(A) = A^T
  ValueKind b = ValueKind::f32;
  ValueKind c = ValueKind::f32;
  ValueKind accumulate = ValueKind::f32;
  Semiring semiring = Semiring::plus_times;

  Index output_rows() const { return transpose_a ? a.cols() : a.rows(); }  // of C
  Index input_rows() const { return transpose_a ? a.rows() : a.cols(); }   // of B
};

/// The shape of the plan's operator, which works in `space`.
OperatorShape shape_of(const SpmmProblem& problem, MemorySpace space);

/// The usual problem for a matrix: B of the matrix's own kind (f32 for kind none), accumulation in
/// f32 (f64 for f64), C of the accumulation's kind.
SpmmProblem default_spmm_problem(const CsrMatrix& a, Index dense_cols);

/// Sets the kind of B, and with it the kind of the sums and of C.
void set_dense_kind(SpmmProblem* problem, ValueKind kind);

/// Throws UsageError unless (A, B, C, accumulate) is a row of the table of legal kinds in
/// docs/architecture.md and the sizes can exist.
void require_legal(const SpmmProblem& problem);

/// Whether A holds f32 and the dense operands f64: then A's values are widened, which is exact.
bool has_wide_operands(const SpmmProblem& problem);

/// Whether A holds f32 and the dense operands 16 bits, which halves the bytes of B: what graph
/// learning uses.
bool has_narrow_operands(const SpmmProblem& problem);

/// The capabilities that the problem needs.
Capabilities needed_for(const SpmmProblem& problem);

/// What a kernel declares that can do everything usual.
inline constexpr Capabilities kEverything = kAllKinds | kTranspose | kAlphaBeta |
                                            kLeadingDimension | kSemirings | kDeterministic |
                                            kAnyAlignment | kManyColumns;

/// The operation, for KernelTable.
struct Spmm {
  using Problem = SpmmProblem;
  using Plan = Operator;
  static constexpr const char* kName = "spmm";
  static constexpr Capabilities kAll = kEverything;
};

/// SpMV, y = alpha * op(A) * x + beta * y, is SpMM of one column: the same problem and plan, with
/// kernels of its own. What one of them declares that can do everything:
inline constexpr Capabilities kEverySpmv = (kEverything & ~kManyColumns) | kWideOperands;

using SpmmPlan = Operator;
using SpmmKernel = Kernel<Spmm>;

}  // namespace csrkit
