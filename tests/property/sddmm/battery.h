// What every SDDMM kernel, on any machine, must satisfy, on the matrices of SpMM's battery. A
// kernel is tested by being in a table of SddmmKernel.
#pragma once

#include "core/contract/sddmm.h"
#include "tests/property/spmm/battery.h"

namespace csrkit::testing {

struct SddmmCase {
  ValueKind a = ValueKind::f32;
  ValueKind x = ValueKind::f32;
  ValueKind c = ValueKind::f32;
  bool multiplies_by_a = false;
  double alpha = 1;
  double beta = 0;
  Offset padding = 0;  // columns between the rows of X and of Y
  BPattern pattern = BPattern::random;
  std::vector<Execution> executions = {Execution{}};  // all of these must give the same bits
  CheckOptions check;
};

/// Every legal combination of kinds within what a kernel can do; with A's values where they are
/// wanted.
inline std::vector<SddmmCase> sddmm_kinds_within(Capabilities capabilities) {
  const std::pair<ValueKind, Capabilities> kinds[] = {{ValueKind::f32, kF32},
                                                      {ValueKind::f64, kF64},
                                                      {ValueKind::f16, kF16},
                                                      {ValueKind::bf16, kBf16}};
  std::vector<SddmmCase> all;
  for (const auto& [x, capability] : kinds) {
    if ((capabilities & capability) == 0) continue;
    const ValueKind sum = x == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
    std::vector<ValueKind> of_c{sum};
    if (x != sum && (capabilities & kNarrowOutput) != 0) of_c.push_back(x);
    for (const ValueKind c : of_c) {
      SddmmCase item;
      item.x = x;
      item.c = c;
      item.a = ValueKind::none;
      all.push_back(item);
      if ((capabilities & kTimesValues) == 0) continue;
      item.multiplies_by_a = true;
      for (const ValueKind a :
           {ValueKind::none, ValueKind::f32, ValueKind::f64, ValueKind::f16, ValueKind::bf16}) {
        item.a = a;
        if (a != ValueKind::f64 || sum == ValueKind::f64) all.push_back(item);
      }
    }
  }
  return all;
}

inline std::string describe(const SddmmCase& item, Index dense_cols) {
  return std::string("A ") + csrkit::name_of(item.a) + (item.multiplies_by_a ? " times " : " at ") +
         csrkit::name_of(item.x) + " -> " + csrkit::name_of(item.c) +
         " K=" + std::to_string(dense_cols) + " alpha=" + std::to_string(item.alpha) +
         " beta=" + std::to_string(item.beta) + " padding=" + std::to_string(item.padding) +
         " pattern=" + std::to_string(static_cast<int>(item.pattern));
}

inline SddmmProblem problem_of(const CsrMatrix& matrix, const SddmmCase& item, Index dense_cols) {
  SddmmProblem problem;
  problem.a = convert_values(matrix, item.a);
  problem.dense_cols = dense_cols;
  problem.multiplies_by_a = item.multiplies_by_a;
  set_dense_kind(&problem, item.x);
  problem.c = item.c;
  return problem;
}

/// C, as one row between guards; the battery's matrices have few entries.
inline ValuesView values_of(const DenseView& row) { return {row.data, row.kind, row.cols}; }

/// Runs one case and judges everything that the contract promises: C within the derived bound
/// although it was NaN before (beta 0), guards untouched, operands untouched, and, where the kernel
/// declares itself deterministic, the same bits from run to run and for every execution.
inline void check_sddmm_kernel_on(const SddmmKernel& kernel, const CsrMatrix& matrix,
                                  Index dense_cols, const SddmmCase& item = {}) {
  SCOPED_TRACE(std::string(kernel.name) + " " + describe(item, dense_cols));
  const SddmmProblem problem = problem_of(matrix, item, dense_cols);
  const CsrMatrix a_before = copy_of(problem.a);
  const auto nnz = static_cast<Index>(problem.a.nnz());
  GuardedDense x(problem.a.rows(), dense_cols, problem.x, item.padding);
  GuardedDense y(problem.a.cols(), dense_cols, problem.x, item.padding);
  GuardedDense c(1, nnz, problem.c, 0), c0(1, nnz, problem.c, 0);
  fill_pattern(x.view(), item.pattern, 11);
  fill_pattern(y.view(), item.pattern, 13);
  if (item.beta == 0) {
    c0.fill(std::numeric_limits<double>::quiet_NaN());
  } else {
    fill_random(c0.view(), 12);
  }
  const std::vector<unsigned char> x_before = x.bytes(), y_before = y.bytes();
  const bool deterministic = kernel.can(kDeterministic);
  std::vector<unsigned char> first_bits;
  for (const Execution& where : item.executions) {
    PlanOptions options;
    options.deterministic = deterministic;
    options.where = where;
    const auto plan = kernel.make_plan(problem, options);
    for (int run = 0; run < 2; ++run) {
      std::memcpy(static_cast<unsigned char*>(c.view().data) - GuardedDense::kGuardBytes,
                  c0.bytes().data(), c.bytes().size());
      plan->bind(x.view(), y.view(), values_of(c.view()));
      plan->multiply(item.alpha, item.beta);
      plan->fetch_output();
      ASSERT_TRUE(c.guards_intact()) << "something outside C was written";
      if (first_bits.empty() || !deterministic) {
        first_bits = c.bytes();
        const ConstValuesView before = values_of(c0.view());
        const CheckResult result =
            check_sddmm(problem, x.view(), y.view(), item.alpha, item.beta,
                        item.beta == 0 ? nullptr : &before, values_of(c.view()), item.check);
        ASSERT_TRUE(result.passed) << result.failure;
      }
      ASSERT_TRUE(first_bits == c.bytes())
          << "run " << run << " with " << where.threads << " threads gave other bits";
    }
  }
  ASSERT_TRUE(x_before == x.bytes()) << "X was changed";
  ASSERT_TRUE(y_before == y.bytes()) << "Y was changed";
  ASSERT_TRUE(identical(a_before, problem.a)) << "A was changed";
}

/// The widths of the battery, and odd ones of data sets of graph learning.
inline const std::vector<Index>& sddmm_dense_cols() {
  static const std::vector<Index> all = {1,  2,  3,  4,  5,  7,   8,   15,  16,  17,  31,
                                         32, 33, 41, 64, 67, 100, 255, 257, 602, 1433};
  return all;
}

}  // namespace csrkit::testing
