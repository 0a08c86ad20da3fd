// The contract of SDDMM, the product of two dense matrices where a sparse one has entries:
//
//   C_p = alpha * S_p * (row i of X . row j of Y) + beta * C_p    for every entry p = (i, j) of A
//
// with S_p = 1, or A's value if the problem multiplies by A's values. C is an array of nnz numbers
// in the order of A's entries. With C = A's values before and S_p = 1 this is alpha X Y^T + beta A
// at A's positions, as torch.sparse.sampled_addmm has it.
//
//   auto plan = kernel.make_plan(problem, options);     // analysis, once per matrix
//   plan->bind(x.view(), y.view(), c);                  // operands, host or device memory
//   plan->multiply(alpha, beta);                        // any number of times
//   plan->fetch_output();                               // C is where the caller wants it
#pragma once

#include "core/contract/kernel_table.h"
#include "core/contract/operator.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// A borrowed array of numbers of one kind, never none, without gaps; read-only and writable.
struct ConstValuesView {
  const void* data = nullptr;
  ValueKind kind = ValueKind::f32;
  Offset size = 0;
  MemorySpace space = MemorySpace::host;

  /// Element `at` as double, for host memory; slow, for references and checks.
  double at(Offset at) const;
};
struct ValuesView {
  void* data = nullptr;
  ValueKind kind = ValueKind::f32;
  Offset size = 0;
  MemorySpace space = MemorySpace::host;

  operator ConstValuesView() const { return {data, kind, size, space}; }
};

/// What is to be computed.
struct SddmmProblem {
  CsrMatrix a;           // shared, not copied; in host memory, or on the device (kDeviceMatrix)
  Index dense_cols = 0;  // K: columns of X and of Y, at least 1
  bool multiplies_by_a = false;  // S holds A's values; else they are not looked at
  ValueKind x = ValueKind::f32;  // of X and of Y
  ValueKind c = ValueKind::f32;
  ValueKind accumulate = ValueKind::f32;
};

/// The usual problem for a matrix: X and Y have the matrix's own kind (f32 for kind none).
SddmmProblem default_sddmm_problem(const CsrMatrix& a, Index dense_cols);

/// Sets the kind of X and Y, and with it the kind of the sums and of C.
void set_dense_kind(SddmmProblem* problem, ValueKind kind);

/// Throws UsageError unless sums are of f64 for X and Y in f64 and of f32 otherwise, C is of the
/// sums' kind or of X's, and A's values, if they are wanted, are numbers of the sums' kind.
void require_legal(const SddmmProblem& problem);

/// The capabilities that the problem needs.
Capabilities needed_for(const SddmmProblem& problem);

/// What a kernel declares that can do everything.
inline constexpr Capabilities kEverySddmm = kF32 | kF64 | kF16 | kBf16 | kIeeeSpecials |
                                            kNarrowOutput | kAlphaBeta | kLeadingDimension |
                                            kDeterministic | kAnyAlignment | kTimesValues;

class SddmmPlan : public Plan {
 public:
  /// What it was made for.
  virtual const SddmmProblem& problem() const = 0;

  /// Where operands are used in place.
  virtual MemorySpace space() const = 0;

  /// Borrows X (rows x K), Y (cols x K) and C (nnz numbers) until the next bind. A GPU plan uploads
  /// a host X or Y before this returns. Throws UsageError for a wrong shape or kind.
  virtual void bind(ConstDenseView x, ConstDenseView y, ValuesView c) = 0;

  /// As above. May return before the work is done. C is read only if beta is not 0, so it may hold
  /// anything. With kGraphCapture and operands on the device it only queues work.
  virtual void multiply(double alpha = 1, double beta = 0) = 0;

  /// One multiplication, timed by the plan's own clock. Waits.
  virtual double time_multiply(double alpha = 1, double beta = 0) = 0;

  /// Waits, and brings C to the bound memory if the plan computes elsewhere.
  virtual void fetch_output() { wait(); }

  /// upload_b_seconds is about X and Y.
  virtual Phases phases() const = 0;
};

/// Throws UsageError for operands that do not fit the problem or that a kernel with these
/// capabilities cannot use; plans call it first in bind.
void require_bindable(const SddmmProblem& problem, Capabilities capabilities,
                      const ConstDenseView& x, const ConstDenseView& y, const ConstValuesView& c);

/// The operation, for KernelTable.
struct Sddmm {
  using Problem = SddmmProblem;
  using Plan = SddmmPlan;
  static constexpr const char* kName = "sddmm";
  static constexpr Capabilities kAll = kEverySddmm;
};
using SddmmKernel = Kernel<Sddmm>;

}  // namespace csrkit
