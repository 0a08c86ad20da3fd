// The one judge that every SpGEMM kernel, on any machine, must satisfy. A kernel is tested by being
// in a table of SpgemmKernel.
#pragma once

#include <gtest/gtest.h>

#include "core/contract/spgemm.h"
#include "core/judge/compare.h"
#include "core/matrix/sorted_rows.h"
#include "tests/property/spgemm/products.h"

namespace csrkit::testing {

/// Kinds of A, B and of C and the accumulation.
struct ProductKinds {
  ValueKind a, b, c;
};

inline std::vector<ProductKinds> product_kinds_within(Capabilities capabilities) {
  std::vector<ProductKinds> all;
  const std::pair<ValueKind, Capabilities> stored[] = {{ValueKind::f64, kF64},
                                                       {ValueKind::f32, kF32},
                                                       {ValueKind::f16, kF16},
                                                       {ValueKind::bf16, kBf16}};
  for (const auto& [kind, capability] : stored) {
    if (!(capabilities & capability)) continue;
    const ValueKind c = kind == ValueKind::f64 ? ValueKind::f64 : ValueKind::f32;
    if (c == ValueKind::f32 && !(capabilities & kF32)) continue;
    all.push_back({kind, kind, c});
    if (!(capabilities & kImplicitOnes)) continue;
    all.push_back({ValueKind::none, kind, c});
    all.push_back({kind, ValueKind::none, c});
    if (kind == c) all.push_back({ValueKind::none, ValueKind::none, c});
  }
  return all;
}

struct ProductCase {
  ProductKinds kinds = {ValueKind::f64, ValueKind::f64, ValueKind::f64};
  bool transpose_b = false;
  bool with_mask = false;
  double alpha = 1;
  double drop_below = 0;
  Semiring semiring = Semiring::plus_times;
  bool sorts_rows = true;
  std::vector<Execution> executions = {Execution{}};  // all of these must give the same bits
  CheckOptions check;
};

inline std::string describe(const ProductCase& item) {
  return std::string(csrkit::name_of(item.kinds.a)) + "*" + csrkit::name_of(item.kinds.b) + "->" +
         csrkit::name_of(item.kinds.c) + (item.transpose_b ? " transposed" : "") +
         (item.with_mask ? " masked" : "") + " alpha=" + std::to_string(item.alpha) +
         " drop_below=" + std::to_string(item.drop_below) + " " + csrkit::name_of(item.semiring) +
         (item.sorts_rows ? "" : " unsorted");
}

/// The problem of a case. `transpose_b` hands B over as its transpose, so that the product stays
/// the same.
inline SpgemmProblem problem_of(const ProductOperands& operands, const ProductCase& item) {
  SpgemmProblem problem;
  problem.a = convert_values(operands.a, item.kinds.a);
  const bool b_is_a = operands.a.col_indices() == operands.b.col_indices() &&
                      operands.a.row_offsets() == operands.b.row_offsets();
  problem.b =
      b_is_a && item.kinds.a == item.kinds.b ? problem.a : convert_values(operands.b, item.kinds.b);
  if (item.transpose_b) problem.b = transpose(problem.b);
  problem.transpose_b = item.transpose_b;
  problem.c = item.kinds.c;
  problem.accumulate = item.kinds.c;
  problem.alpha = item.alpha;
  problem.drop_below = item.drop_below;
  problem.semiring = item.semiring;
  problem.sorts_rows = item.sorts_rows;
  if (item.with_mask) {
    // Some of C, and some that is not in C.
    std::vector<Entry> entries;
    const Index rows = problem.output_rows(), cols = problem.output_cols();
    for (Index i = 0; i < rows; ++i) {
      const Index step = 1 + i % 5 + cols / 400;
      for (Index j = i % 3; j < cols; j += step) entries.push_back({i, j, 0.0});
    }
    problem.mask = matrix_of(rows, cols, std::move(entries), ValueKind::none);
  }
  return problem;
}

inline CsrMatrix product_of(SpgemmPlan& plan, const SpgemmProblem& problem) {
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  plan.multiply(sink);
  return sink.finish();
}

/// Blocks of a result and how many there were, as a sink that does not keep them would see them.
class CopyingSink : public CsrSink {
 public:
  CopyingSink(const SpgemmProblem& problem)
      : kept_(problem.output_rows(), problem.output_cols(), problem.c) {}
  void append_rows(const CsrMatrix& block) override {
    kept_.append_rows(copy_of(block));
    ++blocks_;
  }
  CsrMatrix finish() { return kept_.finish(); }
  int blocks() const { return blocks_; }

 private:
  MemorySink kept_;
  int blocks_ = 0;
};

/// Other values and back: nothing of the first ones may stay. `first` is C with these, where the
/// same bits are due.
inline void check_new_values(SpgemmPlan& plan, const SpgemmProblem& problem,
                             const ProductCase& item, const CsrMatrix* first) {
  const auto negated = [](const CsrMatrix& matrix) {
    if (matrix.value_kind() == ValueKind::none) return matrix;
    CsrMatrix other = convert_values(copy_of(matrix), ValueKind::f64);
    auto* const values = static_cast<double*>(const_cast<void*>(other.values()));
    for (Offset i = 0; i < other.nnz(); ++i) values[i] = -0.5 * values[i];
    return convert_values(other, matrix.value_kind());
  };
  SpgemmProblem changed = problem;
  changed.a = negated(problem.a);
  changed.b = problem.b_is_a() ? changed.a : problem.b;
  plan.set_values(changed.a, changed.b);
  const CheckResult result = check_spgemm(changed, product_of(plan, problem), item.check);
  ASSERT_TRUE(result.passed) << "after set_values: " << result.failure;
  plan.set_values(problem.a, problem.b);
  ASSERT_GE(plan.time_numeric(), 0);
  ASSERT_TRUE(first == nullptr || identical(*first, product_of(plan, problem)))
      << "other bits after set_values";
}

/// Runs one case and judges everything that the contract promises: the structure and the values of
/// C, the same bits from run to run, for every execution, for row blocks under a memory limit and
/// after set_values; the forecast above the peak; A and B untouched.
inline void check_kernel_on(const SpgemmKernel& kernel, const ProductOperands& operands,
                            const ProductCase& item = {}) {
  SCOPED_TRACE(std::string(kernel.name) + " " + describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  const CsrMatrix a_before = copy_of(problem.a), b_before = copy_of(problem.b);
  const bool deterministic = kernel.can(kDeterministic);
  std::optional<CsrMatrix> first;
  for (const Execution& where : item.executions) {
    PlanOptions options;
    options.deterministic = deterministic;
    options.where = where;
    const auto plan = kernel.make_plan(problem, options);
    const SpgemmForecast forecast = plan->forecast();
    for (int run = 0; run < 2; ++run) {
      const CsrMatrix c = product_of(*plan, problem);
      if (!first || !deterministic) {
        first = c;
        const CheckResult result = check_spgemm(problem, c, item.check);
        ASSERT_TRUE(result.passed) << result.failure;
        if (!item.sorts_rows && deterministic) {
          SpgemmProblem sorted = problem;
          sorted.sorts_rows = true;
          const auto same = kernel.make_plan(sorted, options);
          ASSERT_TRUE(identical(with_sorted_rows(c), product_of(*same, sorted)))
              << "the order of columns changed bits";
        }
      }
      ASSERT_TRUE(identical(*first, c))
          << "run " << run << " with " << where.threads << " threads gave other bits";
    }
    const SpgemmPhases phases = plan->phases();
    ASSERT_EQ(phases.output_nnz, first->nnz());
    ASSERT_LE(phases.output_nnz, forecast.output_nnz_bound);
    if (kernel.role != Role::vendor) {  // what a vendor's library takes shows only when it runs
      ASSERT_LE(phases.peak_bytes, forecast.peak_bytes);
    }
    if (!problem
             .transpose_b) {  // else what is held is the transpose; offsets may be kept in 32 bits
      ASSERT_GE(phases.peak_bytes, operand_bytes(problem) / 2);
    }
    if (kernel.can(kReuse))
      check_new_values(*plan, problem, item, deterministic ? &*first : nullptr);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_GE(plan->time_multiply(), 0);
  }
  ASSERT_TRUE(identical(a_before, problem.a)) << "A was changed";
  ASSERT_TRUE(identical(b_before, problem.b)) << "B was changed";
}

/// A product of the battery, in f64 and from a pattern in f32.
inline void check_kernel_on(const SpgemmKernel& kernel, const BatteryProduct& product) {
  SCOPED_TRACE(product.name);
  const ProductOperands operands = product.make();
  ProductCase item;
  check_kernel_on(kernel, operands, item);
  item.kinds = {ValueKind::none, ValueKind::f32, ValueKind::f32};
  item.alpha = -1.25;
  check_kernel_on(kernel, operands, item);
}

/// With less memory than all of C takes: more blocks, the same bits, the limit kept.
inline void check_row_blocks(const SpgemmKernel& kernel, const ProductOperands& operands,
                             const ProductCase& item, Execution where) {
  SCOPED_TRACE(std::string(kernel.name) + " in blocks " + describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  PlanOptions options;
  options.where = where;
  const auto plan = kernel.make_plan(problem, options);
  const CsrMatrix whole = product_of(*plan, problem);
  const std::uint64_t c_bytes = whole.size_bytes();
  // The structure is known now, so the forecast is what C takes without anything beside it for a
  // first time.
  const std::uint64_t least = std::min(plan->phases().peak_bytes, plan->forecast().whole_bytes);
  options.memory_limit_bytes = least - c_bytes + c_bytes / 3;
  try {
    const auto limited = kernel.make_plan(problem, options);
    CopyingSink sink(problem);
    limited->multiply(sink);
    ASSERT_GT(sink.blocks(), 1);
    ASSERT_EQ(limited->phases().row_blocks, sink.blocks());
    ASSERT_LE(limited->phases().peak_bytes, options.memory_limit_bytes);
    ASSERT_LE(limited->forecast().peak_bytes, options.memory_limit_bytes);
    ASSERT_TRUE(identical(whole, sink.finish())) << "row blocks gave other bits";
    MemorySink keeping(problem.output_rows(), problem.output_cols(), problem.c);
    ASSERT_THROW(limited->multiply(keeping), MemoryError);
  } catch (const MemoryError& error) {
    FAIL() << error.what();
  }
  options.memory_limit_bytes = operand_bytes(problem) / 2;
  ASSERT_THROW(kernel.make_plan(problem, options), MemoryError);
}

}  // namespace csrkit::testing
