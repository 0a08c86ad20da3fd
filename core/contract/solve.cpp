#include "core/contract/solve.h"

#include <cmath>

#include "core/base/text.h"
#include "core/contract/parse_name.h"

namespace csrkit {

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::f64: return "f64";
    case Precision::f32: return "f32";
    case Precision::refined: return "refined";
  }
  return "?";
}

Precision parse_precision(const std::string& name) {
  return parse_name(name, {Precision::f64, Precision::f32, Precision::refined}, "precision");
}

double default_tolerance(Precision precision) { return precision == Precision::f32 ? 1e-4 : 1e-8; }

const char* name_of(PreconditionerKind kind) {
  switch (kind) {
    case PreconditionerKind::none: return "none";
    case PreconditionerKind::jacobi: return "jacobi";
    case PreconditionerKind::block_jacobi: return "block-jacobi";
    case PreconditionerKind::chebyshev: return "chebyshev";
  }
  return "?";
}

PreconditionerKind parse_preconditioner(const std::string& name) {
  return parse_name(name,
                    {PreconditionerKind::none, PreconditionerKind::jacobi,
                     PreconditionerKind::block_jacobi, PreconditionerKind::chebyshev},
                    "preconditioner");
}

const char* name_of(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return "converged";
    case SolveStatus::iteration_limit: return "iteration limit";
    case SolveStatus::stagnated: return "stagnated";
    case SolveStatus::indefinite: return "indefinite";
    case SolveStatus::breakdown: return "breakdown";
    case SolveStatus::not_finite: return "not finite";
  }
  return "?";
}

RowBlocks uniform_blocks(Index rows, Index size) {
  if (size < 1) throw UsageError("blocks have 1 row or more, not " + std::to_string(size));
  auto block_of_row = std::make_shared<Buffer<Index>>(rows);
  for (Index row = 0; row < rows; ++row) (*block_of_row)[row] = row / size;
  return {static_cast<Index>((Offset{rows} + size - 1) / size), block_of_row};
}

OperatorShape shape_of(const SolveProblem& problem, MemorySpace space) {
  const ValueKind kind = problem.vector_kind();
  return {problem.rows(), problem.rows(), problem.right_hand_sides, kind, kind, space};
}

bool SolveReport::is_solved() const {
  for (const ColumnReport& column : columns) {
    if (column.status != SolveStatus::converged) return false;
  }
  return true;
}

namespace {

std::string text_of(double number) { return rounded(number, 3); }

std::string explanation(const ColumnReport& column) {
  const std::string at = "in iteration " + std::to_string(column.iterations + 1);
  std::string reached = "the residual is " + text_of(column.true_norm) + ", the tolerance " +
                        text_of(column.target_norm);
  switch (column.status) {
    case SolveStatus::converged: return reached;
    case SolveStatus::iteration_limit:
      return reached + "; raise --iterations or choose another --preconditioner";
    case SolveStatus::stagnated:
      return reached + ", and rounding lets it fall no further; raise --tolerance, or, if this " +
             "was in f32, use --precision refined or f64";
    case SolveStatus::indefinite:
      return "p'Ap is " + text_of(column.curvature) + " " + at +
             ": A is not positive definite, and conjugate gradients need that";
    case SolveStatus::breakdown:
      return "p'Ap or r'Mr is " + text_of(column.curvature) + " " + at +
             ": A or the preconditioner is singular or not positive definite";
    case SolveStatus::not_finite:
      return "a NaN or an infinity appeared " + at +
             ": look for one in the matrix, the right-hand side or the guess, or for an overflow;"
             " squares of large numbers overflow, so scale the system down; if A is singular, x may"
             " grow without end";
  }
  return {};
}

}  // namespace

std::string failure_of(const SolveReport& report) {
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const ColumnReport& column = report.columns[i];
    if (column.status == SolveStatus::converged) continue;
    return "right-hand side " + std::to_string(i) + ": " + name_of(column.status) + ": " +
           explanation(column);
  }
  return {};
}

void require_legal(const SolveProblem& problem) {
  if (problem.rows() != problem.cols()) {
    throw UsageError("a system has as many equations as unknowns; this matrix is " +
                     std::to_string(problem.rows()) + " x " + std::to_string(problem.cols()));
  }
  if (problem.right_hand_sides < 1) throw UsageError("there must be 1 right-hand side or more");
  for (const double tolerance : {problem.relative_tolerance, problem.absolute_tolerance}) {
    if (!std::isfinite(tolerance) || tolerance < 0) {
      throw UsageError("tolerances are numbers of 0 or more");
    }
  }
  if (problem.relative_tolerance == 0 && problem.absolute_tolerance == 0) {
    throw UsageError("one of the two tolerances must be above 0");
  }
  if (problem.iteration_limit < 0) throw UsageError("the iteration limit must be 1 or more");
  const ValueKind kind = problem.dense ? problem.dense->kind() : problem.a.value_kind();
  if (kind == ValueKind::f16 || kind == ValueKind::bf16 ||
      (problem.dense && kind == ValueKind::none)) {
    throw UsageError(std::string("systems are solved in f32 or f64, and this matrix holds ") +
                     name_of(kind) +
                     (problem.dense ? "; save it in one of them"
                                    : "; import or generate it with --value-kind f32 or f64"));
  }
  const Preconditioner& by = problem.preconditioner;
  if (by.kind == PreconditionerKind::block_jacobi &&
      (by.blocks.block_of_row == nullptr || by.blocks.block_of_row->size() != problem.rows())) {
    throw UsageError("block-jacobi needs the block of every row");
  }
  if (by.kind == PreconditionerKind::chebyshev && by.degree < 1) {
    throw UsageError("a Chebyshev polynomial here has degree 1 or more");
  }
}

Capabilities needed_for(const SolveProblem& problem) {
  Capabilities needs = capability_of(problem.vector_kind());
  if (problem.dense) {
    needs |= kDenseSystems | capability_of(problem.dense->kind());
  } else {
    needs |= capability_of(problem.a.value_kind());
    if (problem.a.space() == MemorySpace::device) needs |= kDeviceMatrix;
  }
  if (problem.right_hand_sides > 1) needs |= kManyColumns;
  if (problem.precision == Precision::refined) needs |= kRefinement;
  if (problem.preconditioner.kind == PreconditionerKind::block_jacobi ||
      problem.preconditioner.kind == PreconditionerKind::chebyshev) {
    needs |= kPreconditioners;
  }
  return needs;
}

}  // namespace csrkit
