// The contract of solving A X = B for a symmetric positive definite A, by conjugate gradients.
// A solver's plan is an Operator whose Op is the inverse of A:
//
//   auto plan = kernel.make_plan(problem, options);  // conversions, preconditioner
//   plan->bind(b.view(), x.view());                  // x holds the guess, if there is one
//   plan->multiply();                                // solves
//   plan->fetch_output();                            // the best iterate is in x
//   plan->report();                                  // how it went, failures included
//
// A system that cannot be solved is not an error of the plan: its report says so. If a diagonal
// element or block shows before any iteration that A is not positive definite, make_plan throws
// VerifyError.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/contract/kernel_table.h"
#include "core/contract/operator.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// The numbers that iterations work in. refined: f32 iterations that solve for corrections, f64
/// residuals and solution around them.
enum class Precision : std::uint8_t { f64, f32, refined };
const char* name_of(Precision precision);
Precision parse_precision(const std::string& name);

/// none: M = I. jacobi: M = diag(A). block_jacobi: M = the diagonal blocks of A. chebyshev: a
/// polynomial in A, scaled by its diagonal.
enum class PreconditionerKind : std::uint8_t { none, jacobi, block_jacobi, chebyshev };
const char* name_of(PreconditionerKind kind);
PreconditionerKind parse_preconditioner(const std::string& name);

/// Rows that belong together, for block_jacobi: each row is in one block.
struct RowBlocks {
  Index blocks = 0;
  std::shared_ptr<const Buffer<Index>> block_of_row;  // as many numbers in [0, blocks) as rows
};
/// Blocks of `size` neighbouring rows, the last one perhaps smaller.
RowBlocks uniform_blocks(Index rows, Index size);

struct Preconditioner {
  PreconditionerKind kind = PreconditionerKind::none;
  RowBlocks blocks;  // block_jacobi
  int degree = 0;    // chebyshev: products with A in each application, 1 or more
};

/// The relative tolerance of the tools: 1e-8, and 1e-4 in f32, whose rounding leaves 1e-6, 6e-5 and
/// 6e-4 on grids of 100, 10,000 and 90,000 rows.
double default_tolerance(Precision precision);

struct SolveProblem {
  CsrMatrix a;                               // square; on the host
  std::shared_ptr<const DenseMatrix> dense;  // takes the place of `a` if not null; f32 or f64
  Index right_hand_sides = 1;                // columns of B and X
  Precision precision = Precision::f64;
  Preconditioner preconditioner;
  /// Solved: |b - A x| is at most the greater of relative_tolerance * |b| and absolute_tolerance.
  double relative_tolerance = 1e-8;
  double absolute_tolerance = 0;
  Offset iteration_limit = 0;  // 0: ten times the rows
  bool has_guess = false;      // x holds where to start; otherwise it starts at 0
  ProgressCallback progress;   // iterations, of the limit

  /// Of A, whatever it is stored as.
  Index rows() const { return dense ? dense->rows() : a.rows(); }
  /// Of A.
  Index cols() const { return dense ? dense->cols() : a.cols(); }
  /// Most iterations.
  Offset limit() const { return iteration_limit > 0 ? iteration_limit : 10 * Offset{rows()}; }
  /// Of B and X.
  ValueKind vector_kind() const {
    return precision == Precision::f32 ? ValueKind::f32 : ValueKind::f64;
  }
};

OperatorShape shape_of(const SolveProblem& problem, MemorySpace space);

/// How solving for one right-hand side ended.
enum class SolveStatus : std::uint8_t {
  converged,
  iteration_limit,
  stagnated,   // rounding keeps the true residual above the tolerance
  indefinite,  // a direction p with p'Ap < 0: A is not positive definite
  breakdown,   // a direction p with p'Ap = 0, or a preconditioner that is not positive definite
  not_finite   // a NaN or an infinity, from A, b, the guess or an overflow
};
const char* name_of(SolveStatus status);

/// One right-hand side. Norms are Euclidean.
struct ColumnReport {
  SolveStatus status = SolveStatus::iteration_limit;
  Offset iterations = 0;  // completed
  double rhs_norm = 0;
  double target_norm = 0;      // at most this is solved
  double recurrence_norm = 0;  // of the best iterate, as the iteration carries it along
  double true_norm = 0;        // of b - A x for the x that is returned, computed anew
  double curvature = 0;        // indefinite, breakdown: p'Ap
};

struct SolveReport {
  std::vector<ColumnReport> columns;
  Offset iterations = 0;  // of the longest column
  Offset runs = 0;        // of iterations: refinement steps, restarts from a residual made anew
  /// Residual norms of the recurrence, (iterations + 1) rows with one number per column.
  std::vector<double> history;
  /// Of A scaled by its diagonal, estimated for chebyshev; 0, 0 otherwise.
  double lowest_eigenvalue = 0, highest_eigenvalue = 0;
  double seconds = 0;  // of all iterations, transfers excluded

  /// Whether every column converged.
  bool is_solved() const;
};

/// "right-hand side 0: indefinite: p'Ap is -1 in iteration 3, so ...", for the first one that
/// failed; "" if none did.
std::string failure_of(const SolveReport& report);

class Solver : public Operator {
 public:
  /// Of the last multiply. Waits.
  virtual const SolveReport& report() = 0;
};

/// Throws UsageError for what no kernel can solve: not square, wrong tolerances, blocks or degrees.
void require_legal(const SolveProblem& problem);
Capabilities needed_for(const SolveProblem& problem);

/// What a kernel declares that can do everything.
inline constexpr Capabilities kEverySolve = kImplicitOnes | kF32 | kF64 | kManyColumns |
                                            kLeadingDimension | kDeterministic | kAnyAlignment |
                                            kRefinement | kPreconditioners | kDenseSystems;

/// The operation, for KernelTable.
struct Solve {
  using Problem = SolveProblem;
  using Plan = Solver;
  static constexpr const char* kName = "solve";
  static constexpr Capabilities kAll = kEverySolve;
};

}  // namespace csrkit
