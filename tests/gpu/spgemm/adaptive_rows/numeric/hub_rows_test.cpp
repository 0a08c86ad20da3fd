// Hubs: rows with thousands of short sources, whatever else is in their way.

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/spgemm/adaptive_rows/adaptive_rows.h"
#include "gpu/spgemm/plan.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

namespace {

/// `n` rows of two or three entries each, `rows` and `cols` that have `size` more, and a full
/// diagonal.
CsrMatrix with_hubs(Index n, const std::vector<Index>& rows, const std::vector<Index>& cols,
                    Index size) {
  std::vector<Entry> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, random_value(61, i, i)});
    for (Index k = 0; k < 2; ++k) {
      const auto col = static_cast<Index>(random_word(62, i, k) % static_cast<unsigned>(n));
      entries.push_back({i, col, random_value(63, i, col)});
    }
  }
  for (const Index hub : rows) {
    for (Index k = 0; k < size; ++k) {
      const auto col = static_cast<Index>(Offset{k} * n / size);
      entries.push_back({hub, col, random_value(64, hub, col)});
    }
  }
  for (const Index hub : cols) {
    for (Index k = 0; k < size; ++k) {
      const auto row = static_cast<Index>(Offset{k} * n / size);
      entries.push_back({row, hub, random_value(64, row, hub)});
    }
  }
  const auto before = [](const Entry& x, const Entry& y) {
    return std::pair(x.row, x.col) < std::pair(y.row, y.col);
  };
  const auto same = [](const Entry& x, const Entry& y) { return x.row == y.row && x.col == y.col; };
  std::sort(entries.begin(), entries.end(), before);
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return matrix_of(n, n, entries);
}

std::unique_ptr<SpgemmPlan> plan_of(const SpgemmProblem& problem, const gpu::BinRules& rules,
                                    const PlanOptions& options = {}) {
  return std::make_unique<gpu::GpuSpgemmPlan>("adaptive_rows", kSpgemmEverything, problem, options,
                                              gpu::make_adaptive_rows(problem, rules));
}

/// Limits that small hubs reach.
gpu::BinRules rules_for_small_hubs() {
  gpu::BinRules rules;
  rules.hub_sources = 100;
  rules.most_per_hub_source = 1000;
  rules.fewest_spread = 50;
  return rules;
}

Offset hubs_of(const SpgemmPlan& plan) {
  const std::string choice = plan.choice();
  const std::size_t end = choice.find(" hubs");
  if (end == std::string::npos) return -1;
  return std::stoll(choice.substr(choice.rfind(' ', end - 1) + 1));
}

/// C is right and the same every time, memory is as forecast, and so it is with new values, which
/// come row by row.
void check(const ProductOperands& operands, const ProductCase& item, gpu::BinRules rules,
           Offset hubs) {
  SCOPED_TRACE(describe(item));
  const SpgemmProblem problem = problem_of(operands, item);
  rules.prefers_one_pass = false;
  rules.most_listed = rules.most_listed_of_few = 0;
  std::optional<CsrMatrix> first;
  for (int run = 0; run < 2; ++run) {
    const auto plan = plan_of(problem, rules);
    for (int again = 0; again < 2; ++again) {
      const CsrMatrix c = product_of(*plan, problem);
      const CheckResult result = check_spgemm(problem, c, item.check);
      ASSERT_TRUE(result.passed) << result.failure;
      if (!first) first = c;
      ASSERT_TRUE(identical(*first, c)) << "other bits in run " << run;
      ASSERT_LE(plan->phases().peak_bytes, plan->forecast().peak_bytes);
    }
    ASSERT_EQ(hubs_of(*plan), hubs) << plan->choice();
    plan->expect_new_values();
    product_of(*plan, problem);
    plan->set_values(problem.a, problem.b);
    ASSERT_TRUE(identical(*first, product_of(*plan, problem))) << "other bits of new values";
    ASSERT_LE(plan->phases().reuse_peak_bytes, plan->forecast().reuse_bytes);
    ASSERT_GE(plan->time_multiply(), 0);
  }
}

void check_kinds(const ProductOperands& operands, const gpu::BinRules& rules, Offset hubs) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::none}) {
    ProductCase item;
    item.kinds = {kind, kind, kind == ValueKind::none ? ValueKind::f32 : kind};
    item.alpha = -1.25;
    check(operands, item, rules, hubs);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

using SpgemmHubRows = GpuTest;
using SanitizerSpgemmHubRows = GpuTest;

}  // namespace

// Rows just short and just long enough; hub rows beside a hub column, which all of their sources
// meet; columns alone, which make no long row of A.
TEST_F(SpgemmHubRows, OfHubsOfThousands) {
  gpu::BinRules rules;
  rules.hub_sources = 1'024;
  check_kinds(squared(with_hubs(6'000, {17}, {}, 1'020)), rules, 0);
  check_kinds(squared(with_hubs(6'000, {17}, {}, 1'030)), rules, 1);
  check_kinds(squared(with_hubs(9'000, {3, 2'000, 8'999}, {}, 4'500)), rules, 3);
  check_kinds(squared(with_hubs(9'000, {}, {5, 6}, 6'000)), rules, 0);
  check_kinds(squared(with_hubs(9'000, {3, 2'001}, {8'500}, 5'000)), rules, 2);
  check_kinds(squared(with_hubs(150'000, {3, 2'001, 70'000}, {8'500}, 25'000)), rules, 3);
}

// A star and an arrow: the hub meets itself, so that its sources are not short.
TEST_F(SpgemmHubRows, OfAStar) {
  gpu::BinRules rules;
  rules.hub_sources = 1'024;
  check_kinds(squared(with_hubs(3'000, {7}, {7}, 3'000)), rules, 1);
  check_kinds(squared(with_hubs(2'500, {0, 1}, {0, 1}, 2'500)), rules, 2);
}

TEST_F(SpgemmHubRows, OfSmallHubsInEverySemiring) {
  for (const Semiring semiring :
       {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64, ValueKind::none}) {
      ProductCase item;
      item.kinds = {kind, kind, kind == ValueKind::none ? ValueKind::f32 : kind};
      item.semiring = semiring;
      check(squared(with_hubs(700, {0, 13, 14, 699}, {13, 200}, 350)), item, rules_for_small_hubs(),
            4);
      if (HasFatalFailure()) return;
    }
  }
}

// All rows, or one without products; B with other columns than A.
TEST_F(SpgemmHubRows, OfRectangles) {
  const gpu::BinRules rules = rules_for_small_hubs();
  check_kinds({random_matrix(60, 900, 0.3), random_matrix(900, 50, 0.1)}, rules, 60);
  check_kinds({random_matrix(3, 900, 0.9), random_matrix(900, 70'000, 0.0005)}, rules, 3);
  std::vector<Entry> row;
  for (Index k = 0; k < 900; ++k) row.push_back({1, k, random_value(65, 1, k)});
  check_kinds({matrix_of(3, 900, row), matrix_of(900, 40, {{3, 3, 2.0}, {899, 39, -1.0}})}, rules,
              1);
  check_kinds({matrix_of(3, 900, row), matrix_of(900, 40, {})}, rules, 0);
}

// Many such rows fill a device as they are: then none is a hub.
TEST_F(SpgemmHubRows, AreLeftOutWhereTheyAreMany) {
  gpu::BinRules rules = rules_for_small_hubs();
  const ProductOperands operands = squared(with_hubs(700, {0, 13, 14, 699}, {13, 200}, 350));
  rules.most_of_hubs = 20'000;
  check_kinds(operands, rules, 4);
  rules.most_of_hubs = 1'000;
  check_kinds(operands, rules, 0);
}

// By the model alone: two hubs beside rows that take little; rows too short to be hubs.
TEST_F(SpgemmHubRows, AreLeftToTheModel) {
  check_kinds(squared(with_hubs(20'000, {17, 15'000}, {}, 9'000)), {}, 2);
  check_kinds(squared(with_hubs(9'000, {3, 2'000}, {}, 250)), {}, 0);
}

TEST_F(SpgemmHubRows, HaveTheSameBitsInBlocksOfRows) {
  const ProductOperands operands =
      squared(with_hubs(3'000, {3, 400, 401, 1'500, 2'999}, {700}, 600));
  const SpgemmProblem problem = problem_of(operands, {});
  gpu::BinRules rules = rules_for_small_hubs();
  rules.prefers_one_pass = false;
  const auto whole = plan_of(problem, rules);
  PlanOptions options;
  const SpgemmForecast forecast = whole->forecast();
  options.memory_limit_bytes = forecast.whole_bytes - forecast.output_bytes_bound / 4;
  const auto in_blocks = plan_of(problem, rules, options);
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  in_blocks->multiply(sink);
  EXPECT_GT(in_blocks->phases().row_blocks, 1);
  EXPECT_TRUE(identical(product_of(*whole, problem), sink.finish()));
}

TEST_F(SanitizerSpgemmHubRows, OfSmallHubs) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    ProductCase item;
    item.kinds = {kind, kind, kind};
    check(squared(with_hubs(400, {0, 13, 399}, {13, 200}, 200)), item, rules_for_small_hubs(), 3);
  }
}

}  // namespace csrkit::testing
