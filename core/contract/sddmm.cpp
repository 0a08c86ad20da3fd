#include "core/contract/sddmm.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/contract/countable.h"

namespace csrkit {

double ConstValuesView::at(Offset at) const {
  return with_value_type(kind, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, ImplicitOne>) {
      return 1.0;
    } else {
      return load_as<double>(static_cast<const T*>(data)[at]);
    }
  });
}

SddmmProblem default_sddmm_problem(const CsrMatrix& a, Index dense_cols) {
  SddmmProblem problem;
  problem.a = a;
  problem.dense_cols = dense_cols;
  set_dense_kind(&problem, a.value_kind() == ValueKind::none ? ValueKind::f32 : a.value_kind());
  return problem;
}

void set_dense_kind(SddmmProblem* problem, ValueKind kind) {
  problem->x = kind;
  problem->accumulate = kind == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
  problem->c = problem->accumulate;
}

void require_legal(const SddmmProblem& problem) {
  if (problem.dense_cols < 1) {
    throw UsageError("dense_cols is " + std::to_string(problem.dense_cols) +
                     "; it must be 1 or more");
  }
  require_countable(std::max(problem.a.rows(), problem.a.cols()), problem.dense_cols);
  const ValueKind x = problem.x, c = problem.c;
  const ValueKind accumulate = x == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
  const bool is_legal =
      x != ValueKind::none && problem.accumulate == accumulate && (c == accumulate || c == x);
  if (!is_legal) {
    throw UsageError(std::string("X and Y ") + name_of(x) + ", C " + name_of(c) +
                     ", accumulation " + name_of(problem.accumulate) +
                     " do not go together: accumulation is f64 for f64 and f32 otherwise, C has "
                     "the accumulation's or X's kind");
  }
  if (problem.multiplies_by_a && problem.a.value_kind() == ValueKind::f64 &&
      accumulate != ValueKind::f64) {
    throw UsageError(std::string("A's values in f64 do not go with X and Y in ") + name_of(x) +
                     ", whose sums are of f32; use f64 for all, or convert A to f32");
  }
}

Capabilities needed_for(const SddmmProblem& problem) {
  Capabilities needs = capability_of(problem.x);
  if (problem.a.space() == MemorySpace::device) needs |= kDeviceMatrix;
  if (problem.c == ValueKind::f16 || problem.c == ValueKind::bf16) needs |= kNarrowOutput;
  if (problem.multiplies_by_a && problem.a.value_kind() != ValueKind::none) needs |= kTimesValues;
  return needs;
}

void require_bindable(const SddmmProblem& problem, Capabilities capabilities,
                      const ConstDenseView& x, const ConstDenseView& y, const ConstValuesView& c) {
  require_dense("X", x, problem.a.rows(), problem.dense_cols, problem.x, capabilities);
  require_dense("Y", y, problem.a.cols(), problem.dense_cols, problem.x, capabilities);
  if (c.kind != problem.c) {
    throw UsageError(std::string("C holds ") + name_of(c.kind) + "; this product needs " +
                     name_of(problem.c));
  }
  if (c.size != problem.a.nnz()) {
    throw UsageError("C has " + counted(c.size, "element") + "; this product needs " +
                     std::to_string(problem.a.nnz()) + ", one for each entry of A");
  }
}

}  // namespace csrkit
