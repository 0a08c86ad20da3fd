#include "core/contract/spgemm.h"

#include <cmath>
#include <cstring>

#include "core/base/text.h"
#include "core/contract/operator.h"

namespace csrkit {

namespace {

std::string shape_of(Index rows, Index cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

bool is_narrow(ValueKind kind) { return kind == ValueKind::f16 || kind == ValueKind::bf16; }

bool same_structure(const CsrMatrix& a, const CsrMatrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.value_kind() != b.value_kind()) {
    return false;
  }
  if (a.row_offsets() != b.row_offsets() &&
      std::memcmp(a.row_offsets(), b.row_offsets(),
                  (static_cast<std::size_t>(a.rows()) + 1) * sizeof(Offset)) != 0) {
    return false;
  }
  return a.nnz() == 0 || a.col_indices() == b.col_indices() ||
         std::memcmp(a.col_indices(), b.col_indices(),
                     static_cast<std::size_t>(a.nnz()) * sizeof(Index)) == 0;
}

}  // namespace

SpgemmProblem default_spgemm_problem(const CsrMatrix& a, const CsrMatrix& b, bool transpose_b) {
  SpgemmProblem problem;
  problem.a = a;
  problem.b = b;
  problem.transpose_b = transpose_b;
  const bool wide = a.value_kind() == ValueKind::f64 || b.value_kind() == ValueKind::f64;
  problem.accumulate = wide ? ValueKind::f64 : ValueKind::f32;
  problem.c = problem.accumulate;
  return problem;
}

void require_legal(const SpgemmProblem& problem) {
  const Index inner_of_b = problem.transpose_b ? problem.b.cols() : problem.b.rows();
  if (problem.a.cols() != inner_of_b) {
    throw UsageError("A is " + shape_of(problem.a.rows(), problem.a.cols()) + " and " +
                     (problem.transpose_b ? "the transpose of B is " : "B is ") +
                     shape_of(inner_of_b, problem.output_cols()) +
                     ": A's columns and the other's rows must be equal");
  }
  const ValueKind a = problem.a.value_kind(), b = problem.b.value_kind();
  const bool one_is_none = a == ValueKind::none || b == ValueKind::none;
  const bool both_none = a == ValueKind::none && b == ValueKind::none;
  const bool wide = a == ValueKind::f64 || b == ValueKind::f64;
  const ValueKind sums = problem.accumulate;
  const bool sums_fit = both_none ? sums == ValueKind::f32 || sums == ValueKind::f64
                                  : sums == (wide ? ValueKind::f64 : ValueKind::f32);
  if ((a != b && !one_is_none) || !sums_fit || problem.c != sums) {
    throw UsageError(std::string("A ") + name_of(a) + ", B " + name_of(b) + ", C " +
                     name_of(problem.c) + ", accumulation " + name_of(sums) +
                     " do not go together: B has A's kind or one of them is none; accumulation and "
                     "C are f64 for f64 and f32 otherwise; --value-kind converts both");
  }
  if (problem.semiring != Semiring::plus_times) {
    if (is_narrow(a) || is_narrow(b)) {
      throw UsageError(std::string("semiring ") + name_of(problem.semiring) +
                       " works on f32 and f64; convert the matrices with --value-kind");
    }
    if (problem.alpha != 1) {
      throw UsageError(std::string("semiring ") + name_of(problem.semiring) +
                       " takes alpha 1 only");
    }
  }
  require_factor("alpha", problem.alpha, sums);
  if (!(problem.drop_below >= 0) || std::isinf(problem.drop_below)) {
    throw UsageError("drop_below is " + rounded(problem.drop_below) +
                     "; it must be 0 or a positive number");
  }
  if (problem.mask && (problem.mask->rows() != problem.output_rows() ||
                       problem.mask->cols() != problem.output_cols())) {
    throw UsageError("the mask is " + shape_of(problem.mask->rows(), problem.mask->cols()) +
                     "; it must have C's shape, " +
                     shape_of(problem.output_rows(), problem.output_cols()));
  }
}

Capabilities needed_for(const SpgemmProblem& problem) {
  Capabilities needs =
      capability_of(problem.a.value_kind()) | capability_of(problem.b.value_kind());
  needs |= capability_of(problem.accumulate);
  if (problem.transpose_b) needs |= kTranspose;
  if (problem.alpha != 1) needs |= kAlphaBeta;
  if (problem.semiring != Semiring::plus_times) needs |= kSemirings;
  if (problem.mask) needs |= kMask;
  if (problem.drop_below > 0) needs |= kDropBelow;
  if (!problem.sorts_rows) needs |= kUnsortedRows;
  return needs;
}

void require_same_structure(const SpgemmProblem& problem, const CsrMatrix& a, const CsrMatrix& b) {
  if (!same_structure(problem.a, a)) {
    throw UsageError("the new A has another structure or kind than the plan's; make a new plan");
  }
  if (!problem.b_is_a() && !same_structure(problem.b, b)) {
    throw UsageError("the new B has another structure or kind than the plan's; make a new plan");
  }
}

std::uint64_t csr_bytes(Index rows, Offset nnz, ValueKind kind) {
  return (static_cast<std::uint64_t>(rows) + 1) * sizeof(Offset) +
         static_cast<std::uint64_t>(nnz) *
             (sizeof(Index) + static_cast<std::uint64_t>(size_of(kind)));
}

std::uint64_t operand_bytes(const SpgemmProblem& problem) {
  return problem.a.size_bytes() + (problem.b_is_a() ? 0 : problem.b.size_bytes()) +
         (problem.mask ? problem.mask->size_bytes() : 0);
}

}  // namespace csrkit
