#include "core/contract/spmm.h"

#include <algorithm>

#include "core/contract/countable.h"

namespace csrkit {

OperatorShape shape_of(const SpmmProblem& problem, MemorySpace space) {
  return {
      problem.output_rows(), problem.input_rows(), problem.dense_cols, problem.b, problem.c, space};
}

SpmmProblem default_spmm_problem(const CsrMatrix& a, Index dense_cols) {
  SpmmProblem problem;
  problem.a = a;
  problem.dense_cols = dense_cols;
  set_dense_kind(&problem, a.value_kind() == ValueKind::none ? ValueKind::f32 : a.value_kind());
  return problem;
}

void set_dense_kind(SpmmProblem* problem, ValueKind kind) {
  problem->b = kind;
  problem->accumulate = kind == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
  problem->c = problem->accumulate;
}

bool has_wide_operands(const SpmmProblem& problem) {
  return problem.a.value_kind() == ValueKind::f32 && problem.b == ValueKind::f64;
}

bool has_narrow_operands(const SpmmProblem& problem) {
  return problem.a.value_kind() == ValueKind::f32 &&
         (problem.b == ValueKind::f16 || problem.b == ValueKind::bf16);
}

void require_legal(const SpmmProblem& problem) {
  if (problem.dense_cols < 1) {
    throw UsageError("dense_cols is " + std::to_string(problem.dense_cols) +
                     "; it must be 1 or more");
  }
  require_countable(std::max(problem.a.rows(), problem.a.cols()), problem.dense_cols);
  const ValueKind a = problem.a.value_kind(), b = problem.b, c = problem.c;
  const bool wide = b == ValueKind::f64;
  const bool narrow = b == ValueKind::f16 || b == ValueKind::bf16;
  const ValueKind accumulate = wide ? ValueKind::f64 : ValueKind::f32;
  const bool legal = b != ValueKind::none &&
                     (a == ValueKind::none || a == b || has_wide_operands(problem) ||
                      has_narrow_operands(problem)) &&
                     problem.accumulate == accumulate && (c == accumulate || (narrow && c == b));
  if (!legal) {
    throw UsageError(std::string("A ") + name_of(a) + ", B " + name_of(b) + ", C " + name_of(c) +
                     ", accumulation " + name_of(problem.accumulate) +
                     " do not go together: B has A's kind (any kind if A has none or "
                     "is f32), accumulation is f64 for f64 and f32 otherwise, C has the "
                     "accumulation's or B's kind");
  }
  if (problem.semiring != Semiring::plus_times && narrow) {
    throw UsageError(std::string("semiring ") + name_of(problem.semiring) +
                     " works on f32 and f64; convert the matrix with --value-kind");
  }
}

Capabilities needed_for(const SpmmProblem& problem) {
  Capabilities needs = capability_of(problem.a.value_kind()) | capability_of(problem.b);
  if (problem.a.space() == MemorySpace::device) needs |= kDeviceMatrix;
  if (problem.dense_cols > 1) needs |= kManyColumns;
  if (has_wide_operands(problem)) needs |= kWideOperands;
  if (has_narrow_operands(problem)) needs |= kNarrowOperands;
  if (problem.transpose_a) needs |= kTranspose;
  if (problem.semiring != Semiring::plus_times) needs |= kSemirings;
  if (problem.c == ValueKind::f16 || problem.c == ValueKind::bf16) needs |= kNarrowOutput;
  return needs;
}

}  // namespace csrkit
