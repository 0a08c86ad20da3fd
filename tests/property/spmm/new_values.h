// New values for the same plan, for kernels of SpMM and, as products with one column, of SpMV.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/contract/takes_values.h"
#include "tests/property/spmm/battery.h"

namespace csrkit::testing {

/// The products with new values are right, or values are refused, by kernels that keep them in
/// their own form; `taker` is a kernel that must take them. None takes them for a transposed A.
inline void check_new_values(const SpmmKernel& kernel, const PlanOptions& options, Index dense_cols,
                             const std::string& taker) {
  const CsrMatrix first = convert_values(random_matrix(90, 70, 0.2, 7), ValueKind::f32);
  const SpmmProblem problem = default_spmm_problem(first, dense_cols);
  const auto plan = kernel.make_plan(problem, options);
  DenseMatrix b(70, dense_cols, ValueKind::f32), c(90, dense_cols, ValueKind::f32);
  fill_random(b.view(), 3);
  SpmmProblem changed = problem;
  std::vector<float> values(static_cast<std::size_t>(first.nnz()));
  for (int round = 1; round < 3; ++round) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      values[n] = static_cast<float>(round) + static_cast<float>(n % 7);
    }
    try {
      set_values(*plan, values.data());
    } catch (const UsageError&) {
      EXPECT_NE(kernel.name, taker);
      return;
    }
    changed.a = CsrMatrix(90, 70, first.row_offsets(), first.col_indices(), ValueKind::f32,
                          values.data(), nullptr);
    fill_nan(c.view());
    plan->bind(b.view(), c.view());
    plan->multiply();
    const CheckResult result =
        check_spmm(changed, b.view(), 1, 0, nullptr, std::as_const(c).view());
    EXPECT_TRUE(result.passed) << result.failure;
  }
  SpmmProblem transposed = problem;
  transposed.transpose_a = true;
  EXPECT_THROW(set_values(*kernel.make_plan(transposed, options), values.data()), UsageError);
}

}  // namespace csrkit::testing
