// New values by a list of products: the battery, and what is long: entries and rows with more
// products than a piece of the list takes.

#include "gpu/plan/kernels.h"
#include "gpu/spgemm/adaptive_rows/adaptive_rows.h"
#include "gpu/spgemm/plan.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

namespace {

std::unique_ptr<SpgemmPlan> make_plan(const SpgemmProblem& problem,
                                      std::uint32_t most_listed = UINT32_MAX,
                                      std::uint64_t memory_limit_bytes = 0) {
  gpu::BinRules rules;
  rules.most_listed = rules.most_listed_of_few = most_listed;
  PlanOptions options;
  options.memory_limit_bytes = memory_limit_bytes;
  return std::make_unique<gpu::GpuSpgemmPlan>("adaptive_rows", kSpgemmEverything, problem, options,
                                              gpu::make_adaptive_rows(problem, rules));
}

CsrMatrix with_other_values(const CsrMatrix& matrix) {
  if (matrix.value_kind() == ValueKind::none) return matrix;
  CsrMatrix other = convert_values(copy_of(matrix), ValueKind::f64);
  auto* const values = static_cast<double*>(const_cast<void*>(other.values()));
  for (Offset i = 0; i < other.nnz(); ++i) values[i] *= -0.5;
  return convert_values(other, matrix.value_kind());
}

/// New values are right, are nobody else's, and are the same in every plan; memory is as forecast.
void check_new_values(const ProductOperands& operands, const ProductCase& item) {
  SCOPED_TRACE(describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  SpgemmProblem changed = problem;
  changed.a = with_other_values(problem.a);
  changed.b = problem.b_is_a() ? changed.a : with_other_values(problem.b);
  std::optional<CsrMatrix> first;
  for (int run = 0; run < 2; ++run) {
    const auto plan = make_plan(problem);
    plan->expect_new_values();
    const SpgemmForecast forecast = plan->forecast();
    ASSERT_GE(forecast.reuse_bytes, forecast.whole_bytes);
    const CsrMatrix c = product_of(*plan, problem);
    const std::uint64_t peak = plan->phases().peak_bytes;
    ASSERT_LE(peak, forecast.peak_bytes);
    ASSERT_EQ(plan->phases().reuse_peak_bytes, 0u);
    plan->set_values(changed.a, changed.b);
    const CsrMatrix renewed = product_of(*plan, problem);
    const CheckResult result = check_spgemm(changed, renewed, item.check);
    ASSERT_TRUE(result.passed) << result.failure;
    if (!first) first = renewed;
    ASSERT_TRUE(identical(*first, renewed)) << "other bits in run " << run;
    ASSERT_GE(plan->time_numeric(), 0);
    plan->set_values(problem.a, problem.b);
    const CsrMatrix back = product_of(*plan, problem);
    const CheckResult as_before = check_spgemm(problem, back, item.check);
    ASSERT_TRUE(as_before.passed) << as_before.failure;
    plan->set_values(changed.a, changed.b);
    ASSERT_TRUE(identical(*first, product_of(*plan, problem))) << "something of before stayed";
    const SpgemmPhases phases = plan->phases();
    ASSERT_EQ(phases.peak_bytes, peak);
    ASSERT_LE(phases.reuse_peak_bytes, forecast.reuse_bytes);
    if (forecast.products > 0) {
      ASSERT_NE(plan->choice().find("list of"), std::string::npos) << plan->choice();
      ASSERT_GT(phases.structure_seconds, 0);
    }
    ASSERT_GE(plan->time_multiply(), 0);  // the list is given back
    ASSERT_LE(plan->phases().peak_bytes, forecast.peak_bytes);
  }
}

void check_battery(const ProductCase& item) {
  on_test_threads(spgemm_battery().size(), [&](std::size_t i) {
    const BatteryProduct& product = spgemm_battery()[i];
    SCOPED_TRACE(product.name);
    check_new_values(product.make(), item);
  });
}

ProductOperands ones_in_a_row(Index count) {
  std::vector<Entry> row, column;
  for (Index i = 0; i < count; ++i) {
    row.push_back({0, i, random_value(11, 0, i)});
    column.push_back({i, 0, random_value(12, i, 0)});
  }
  return {matrix_of(1, count, row), matrix_of(count, 1, column)};
}

using SpgemmProductList = GpuTest;
using SanitizerSpgemmProductList = GpuTest;

}  // namespace

TEST_F(SpgemmProductList, IsRightInEveryKind) {
  for (const ProductKinds& kinds : product_kinds_within(kSpgemmEverything)) {
    ProductCase item;
    item.kinds = kinds;
    check_battery(item);
    if (HasFatalFailure()) return;
  }
}

TEST_F(SpgemmProductList, ObeysOptions) {
  ProductCase item;
  item.alpha = -1.25;
  check_battery(item);
  item.kinds = {ValueKind::f32, ValueKind::f32, ValueKind::f32};
  item.with_mask = item.transpose_b = true;
  item.drop_below = 0;
  check_battery(item);
}

TEST_F(SpgemmProductList, WorksInEverySemiring) {
  for (const Semiring semiring : {Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    ProductCase item;
    item.kinds = {ValueKind::f32, ValueKind::f32, ValueKind::f32};
    item.semiring = semiring;
    check_battery(item);
  }
}

// One entry with more products than 16 bits count; one with as many as a piece may have, and one
// more.
TEST_F(SpgemmProductList, TakesEntriesOfAnyLength) {
  for (const Index count : {1, 255, 256, 257, 258, 2047, 2048, 2049, 70001}) {
    SCOPED_TRACE(count);
    check_new_values(ones_in_a_row(count), {});
    if (HasFatalFailure()) return;
  }
}

// A row with 90,000 products, between rows with none and rows with few; long entries in the middle
// and at the end of a row.
TEST_F(SpgemmProductList, TakesRowsOfAnyLength) {
  const Index inner = 3000;
  std::vector<Entry> a, b;
  for (Index k = 0; k < inner; ++k) {
    a.push_back({3, k, random_value(13, 3, k)});
    if (k % 100 == 0) a.push_back({5, k, random_value(13, 5, k)});
    for (Index i = 0; i < 28; ++i) {
      b.push_back({k, (k * 31 + i * 977) % 40000, random_value(14, k, i)});
    }
    b.push_back({k, 20000, random_value(15, k, 0)});
    b.push_back({k, 40000, random_value(15, k, 1)});
  }
  std::sort(b.begin(), b.end(), [](const Entry& x, const Entry& y) {
    return std::pair(x.row, x.col) < std::pair(y.row, y.col);
  });
  b.erase(
      std::unique(b.begin(), b.end(),
                  [](const Entry& x, const Entry& y) { return x.row == y.row && x.col == y.col; }),
      b.end());
  std::sort(a.begin(), a.end(), [](const Entry& x, const Entry& y) {
    return std::pair(x.row, x.col) < std::pair(y.row, y.col);
  });
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    ProductCase item;
    item.kinds = {kind, kind, kind};
    check_new_values({matrix_of(9, inner, a), matrix_of(inner, 40001, b)}, item);
  }
}

// 72,900 neighbouring entries of C have too many products for a piece, between others that do not.
TEST_F(SpgemmProductList, TakesManyLongEntriesSideBySide) {
  const Index dense = 270, rest = 3000;
  std::vector<Entry> a;
  for (Index i = 0; i < dense + 2 * rest; ++i) {
    if (i >= rest && i < rest + dense) {
      for (Index k = rest; k < rest + dense; ++k) a.push_back({i, k, random_value(16, i, k)});
    } else {
      a.push_back({i, i, random_value(16, i, i)});
    }
  }
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    ProductCase item;
    item.kinds = {kind, kind, kind};
    check_new_values(squared(matrix_of(dense + 2 * rest, dense + 2 * rest, a)), item);
  }
}

// The last entry begins in the second last piece and ends where the last one would.
TEST_F(SpgemmProductList, TakesALastPieceWithoutEntries) {
  const Index single = 1693, longest = 256;
  std::vector<Entry> a, b;
  for (Index i = 0; i < single; ++i) a.push_back({i, 0, random_value(17, i, 0)});
  for (Index k = 0; k < longest; ++k) a.push_back({single, k, random_value(17, single, k)});
  for (Index k = 0; k < longest; ++k) b.push_back({k, 0, random_value(18, k, 0)});
  check_new_values({matrix_of(single + 1, longest, a), matrix_of(longest, 1, b)}, {});
}

TEST_F(SpgemmProductList, IsLeftOutWhereItDoesNotPayOrFit) {
  const ProductOperands operands = squared(random_matrix(400, 400, 0.05));
  const SpgemmProblem problem = problem_of(operands, {});
  const auto choice_of = [&](SpgemmPlan& plan) {
    plan.expect_new_values();
    product_of(plan, problem);
    EXPECT_GT(plan.time_numeric(), 0);
    EXPECT_LE(plan.phases().reuse_peak_bytes, plan.forecast().reuse_bytes);
    return plan.choice();
  };
  const auto with_list = make_plan(problem);
  EXPECT_NE(choice_of(*with_list).find("list of"), std::string::npos);
  const auto too_long = make_plan(problem, 1);
  EXPECT_NE(choice_of(*too_long).find("more than 1)"), std::string::npos) << too_long->choice();
  const std::uint64_t enough = make_plan(problem)->forecast().whole_bytes;
  const auto too_little = make_plan(problem, UINT32_MAX, enough + 1000);
  EXPECT_NE(choice_of(*too_little).find("memory"), std::string::npos) << too_little->choice();
  EXPECT_LE(too_little->phases().reuse_peak_bytes, enough + 1000);
}

// The two products of an entry lie 2.2 million entries of A apart, more than 21 bits.
TEST_F(SpgemmProductList, IsLeftOutWhereAPieceIsTooWide) {
  const Index inner = 2200000;
  std::vector<Entry> a;
  for (Index k = 0; k < inner; ++k) a.push_back({0, k, 1.0 + k % 3});
  const ProductOperands operands = {matrix_of(1, inner, a),
                                    matrix_of(inner, 4, {{0, 1, 2.5}, {inner - 1, 1, -1.5}})};
  const SpgemmProblem problem = problem_of(operands, {});
  const auto plan = make_plan(problem);
  plan->expect_new_values();
  const CsrMatrix c = product_of(*plan, problem);
  plan->set_values(problem.a, problem.b);
  EXPECT_TRUE(identical(c, product_of(*plan, problem)));
  EXPECT_NE(plan->choice().find("too far apart"), std::string::npos) << plan->choice();
}

/// For compute-sanitizer.
TEST_F(SanitizerSpgemmProductList, SmallAdversarialProducts) {
  on_test_threads(spgemm_battery().size(), [](std::size_t i) {
    const BatteryProduct& product = spgemm_battery()[i];
    for (const char* name :
         {"nothing_times_nothing", "no_rows", "no_inner", "all_rows_empty", "one_entry",
          "row_times_column", "compression_of_n", "tridiagonal", "one_source_row_each",
          "around_vector_and_table_sizes", "explicit_zeros"}) {
      if (std::string(name) != product.name) continue;
      SCOPED_TRACE(name);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        ProductCase item;
        item.kinds = {kind, kind, kind};
        check_new_values(product.make(), item);
      }
    }
  });
}

}  // namespace csrkit::testing
