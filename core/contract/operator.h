// A matrix in any format, a preconditioner, a solver: something that is applied to dense operands,
// C = alpha * Op * B + beta * C. SpMM and SpMV plans are operators, and so is a solver's plan,
// whose Op is the inverse of its matrix. Code that needs a product takes an Operator.
//
//   plan->bind(b.view(), c.view());   // operands, in host or device memory
//   plan->multiply(alpha, beta);      // any number of times
//   plan->fetch_output();             // C is where the caller wants it
#pragma once

#include "core/contract/plan.h"
#include "core/contract/semiring.h"
#include "core/matrix/dense_matrix.h"

namespace csrkit {

/// What an operator is applied to, and where.
struct OperatorShape {
  Index output_rows = 0;  // of C
  Index input_rows = 0;   // of B
  Index dense_cols = 0;   // of B and C
  ValueKind b = ValueKind::f32;
  ValueKind c = ValueKind::f32;
  MemorySpace space = MemorySpace::host;  // operands there are used in place
};

/// Seconds per phase, by the plan's own clock; 0 where a phase does not exist.
struct Phases {
  double upload_a_seconds = 0;
  double analysis_seconds = 0;  // everything derived from A: bins, pieces, transposes
  double upload_b_seconds = 0;
  double download_seconds = 0;
  std::uint64_t peak_bytes = 0;  // most memory held at once, operands of the caller excluded

  NamedSeconds named() const {
    return {{"upload_a", upload_a_seconds},
            {"analysis", analysis_seconds},
            {"upload_b", upload_b_seconds},
            {"download", download_seconds}};
  }
};

class Operator : public Plan {
 public:
  virtual OperatorShape shape() const = 0;

  /// Borrows B (input_rows x dense_cols) and C (output_rows x dense_cols) until the next bind.
  /// Views say where the memory is; a GPU plan uploads a host B before this returns. May be called
  /// again with other operands of the same shapes. Throws UsageError for a wrong shape or a wrong
  /// kind.
  virtual void bind(ConstDenseView b, DenseView c) = 0;

  /// C = alpha * Op * B + beta * C. May return before the work is done. C is read only if beta is
  /// not 0, so it may hold anything, NaN included. Nothing outside C's rows and columns is written.
  /// Throws UsageError for factors that require_multipliable() refuses: for semirings other than
  /// plus_times alpha must be 1 and beta 0. With kGraphCapture and operands on the device it only
  /// queues work in Execution::stream: it neither allocates nor waits, so that a CUDA graph can
  /// capture it.
  virtual void multiply(double alpha = 1, double beta = 0) = 0;

  /// One multiplication, timed by the plan's own clock (CUDA events on a GPU). Waits.
  virtual double time_multiply(double alpha = 1, double beta = 0) = 0;

  /// Waits, and brings C to the bound memory if the plan computes elsewhere.
  virtual void fetch_output() { wait(); }

  virtual Phases phases() const = 0;

  /// Bytes of A as the kernel stores it, padding included, that one multiplication reads; 0 if it
  /// reads A's own three arrays.
  virtual std::uint64_t stored_bytes() const { return 0; }
};

/// Whether the first element and, unless rows touch each other, every row begin at a multiple of 16
/// bytes.
bool is_vector_aligned(const ConstDenseView& view);

/// Throws UsageError, in which the operand is `name`, unless it is rows x cols of that kind and a
/// kernel with these capabilities can use it.
void require_dense(const char* name, const ConstDenseView& view, Index rows, Index cols,
                   ValueKind kind, Capabilities capabilities);

/// Throws UsageError for operands that do not fit the shape or that a kernel with these
/// capabilities cannot use; operators call it first in bind.
void require_bindable(const OperatorShape& shape, Capabilities capabilities,
                      const ConstDenseView& b, const DenseView& c);

/// Throws UsageError for a finite alpha or beta that becomes infinite in the kind of the sums, f32
/// or f64, in which kernels multiply by it. `name`: "alpha" or "beta".
void require_factor(const char* name, double factor, ValueKind sums);

/// Throws UsageError for an alpha or beta that the semiring, the kernel or the kind of the sums
/// forbids; operators call it first in multiply.
void require_multipliable(Semiring semiring, Capabilities capabilities, ValueKind sums,
                          double alpha, double beta);

}  // namespace csrkit
