// What the tests of adaptive_rows ask of every product: it is right, has the same bits whichever
// rules made it, and keeps to its forecast.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/spgemm/adaptive_rows/adaptive_rows.h"
#include "gpu/spgemm/plan.h"
#include "tests/property/spgemm/battery.h"

namespace csrkit::testing {

/// One kind for all, and an alpha where the semiring has one.
inline ProductCase case_of(ValueKind kind, Semiring semiring) {
  ProductCase item;
  item.kinds = {kind, kind, kind};
  item.semiring = semiring;
  if (semiring == Semiring::plus_times) item.alpha = -1.25;
  return item;
}

inline void sort_by_place(std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.row, one.col) < std::tie(other.row, other.col);
  });
}

inline std::unique_ptr<gpu::GpuSpgemmPlan> plan_by(const gpu::BinRules& rules,
                                                   const SpgemmProblem& problem,
                                                   const PlanOptions& options = {}) {
  return std::make_unique<gpu::GpuSpgemmPlan>("adaptive_rows", kSpgemmEverything, problem, options,
                                              gpu::make_adaptive_rows(problem, rules));
}

/// C of that plan is right, and has the same bits a second time; the plan kept to its forecast.
inline CsrMatrix check_product(SpgemmPlan& plan, const SpgemmProblem& problem,
                               const ProductCase& item) {
  CsrMatrix c = product_of(plan, problem);
  const CheckResult result = check_spgemm(problem, c, item.check);
  EXPECT_TRUE(result.passed) << result.failure;
  EXPECT_TRUE(identical(c, product_of(plan, problem)));
  EXPECT_LE(plan.phases().peak_bytes, plan.forecast().peak_bytes);
  return c;
}

/// C by these rules is right and has the bits of `first`, which becomes C if it is unset; so has C
/// of new values that are made row by row. Returns how C's rows were made.
inline std::string check_bits(gpu::BinRules rules, const SpgemmProblem& problem,
                              const ProductCase& item, std::optional<CsrMatrix>& first) {
  rules.most_listed = rules.most_listed_of_few = 0;
  const auto plan = plan_by(rules, problem);
  plan->expect_new_values();
  const CsrMatrix c = check_product(*plan, problem, item);
  if (!first) first = c;
  EXPECT_TRUE(identical(*first, c));
  std::string choice = plan->choice();
  plan->set_values(problem.a, problem.b);
  EXPECT_TRUE(identical(c, product_of(*plan, problem)));
  return choice;
}

/// C is right in two passes, and `says` is part of how its rows are made.
inline void check_choice(const ProductOperands& operands, const char* says) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const ProductCase item = case_of(kind, Semiring::plus_times);
    const SpgemmProblem problem = problem_of(operands, item);
    gpu::BinRules rules;
    rules.prefers_one_pass = false;
    const auto plan = plan_by(rules, problem);
    check_product(*plan, problem, item);
    EXPECT_NE(plan->choice().find(says), std::string::npos) << plan->choice();
  }
}

/// C has the same bits where its rows come in blocks, as memory is short by that share of C.
/// Returns how the blocks were made.
inline std::string check_row_blocks(const SpgemmProblem& problem, const gpu::BinRules& rules,
                                    std::uint64_t share_of_c) {
  const auto whole = plan_by(rules, problem);
  const SpgemmForecast forecast = whole->forecast();
  PlanOptions options;
  options.memory_limit_bytes = forecast.whole_bytes - forecast.output_bytes_bound / share_of_c;
  const auto in_blocks = plan_by(rules, problem, options);
  MemorySink sink(problem.output_rows(), problem.output_cols(), problem.c);
  in_blocks->multiply(sink);
  EXPECT_GT(in_blocks->phases().row_blocks, 1);
  EXPECT_LE(in_blocks->phases().peak_bytes, in_blocks->forecast().peak_bytes);
  EXPECT_TRUE(identical(product_of(*whole, problem), sink.finish()));
  return in_blocks->choice();
}

/// Rules by which rows with the same columns are, or are not, made together.
inline gpu::BinRules rules_for_twins(bool prefers_twins) {
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  rules.fewest_for_warps = 0;
  rules.most_listed = rules.most_listed_of_few = 0;
  rules.prefers_twins = rules.keeps_any_bits = prefers_twins;
  rules.fewest_counted_by_warps = 0;
  return rules;
}

}  // namespace csrkit::testing
