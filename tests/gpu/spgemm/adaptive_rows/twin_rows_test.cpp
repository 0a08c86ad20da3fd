// Rows of adaptive_rows with the same columns in A, which are made together.

#include <array>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

/// A mesh of 90 nodes in a ring with 1 to 7 unknowns each, and six neighbours to either side: the
/// rows of a node have the same columns, but for every tenth node, which lacks an entry in one of
/// them. They stand side by side or `step` apart. B has `length` entries in a row, 3 `spread`
/// columns apart, but none in every 50th. If `alike` is not 0, only so many rows of B differ in
/// their columns.
ProductOperands of_twins(Index length, Index spread, Index alike, Index step) {
  constexpr Index kNodes = 90, kReach = 6;
  std::vector<Index> first(1, 0);
  for (Index node = 0; node < kNodes; ++node) first.push_back(first.back() + 1 + node * 5 % 7);
  const Index unknowns = first.back();
  std::vector<Entry> a, b;
  for (Index node = 0; node < kNodes; ++node) {
    for (Index of_node = first[node]; of_node < first[node + 1]; ++of_node) {
      const Index row = of_node * step % unknowns;
      for (Index other = node - kReach; other <= node + kReach; ++other) {
        const Index at = (other + kNodes) % kNodes;
        for (Index col = first[at]; col < first[at + 1]; ++col) {
          const bool is_missing = node % 10 == 3 && of_node == first[node] + 1 && col == first[at];
          if (!is_missing) a.push_back({row, col, random_value(61, row, col)});
        }
      }
    }
  }
  for (Index i = 0; i < unknowns; ++i) {
    for (Index k = 0; k < length && i % 50 != 0; ++k) {
      b.push_back({i, (alike > 0 ? i % alike : i) + k * 3 * spread, random_value(62, i, k)});
    }
  }
  return {matrix_of(unknowns, unknowns, a), matrix_of(unknowns, unknowns + length * 3 * spread, b)};
}

/// As of_twins has it, and which rows of C are made together.
struct TwinShape {
  Index length, spread, alike;
  const char* twins;  // as in the choice; empty: none
};

/// Rows made together have the bits of rows made alone, whose columns are found a second time: as a
/// whole, with new values, and where B's rows are too short for it.
void check_twins(const std::vector<TwinShape>& shapes) {
  for (const auto& [length, spread, alike, twins] : shapes) {
    for (const Index step : {1, 7}) {
      const ProductOperands operands = of_twins(length, spread, alike, step);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
          const ProductCase item = case_of(kind, semiring);
          SCOPED_TRACE(describe(item) + ", rows of " + std::to_string(length) + " x " +
                       std::to_string(spread) + ", " + std::to_string(step) + " apart");
          const SpgemmProblem problem = problem_of(operands, item);
          std::optional<CsrMatrix> alone;
          for (const bool prefers_twins : {false, true}) {
            const auto plan = plan_by(rules_for_twins(prefers_twins), problem);
            plan->expect_new_values();
            const CsrMatrix c = product_of(*plan, problem);
            if (!alone) alone = c;
            EXPECT_TRUE(identical(*alone, c));
            std::smatch found;
            const std::string choice = plan->choice();
            const bool has_twins = std::regex_search(
                choice, found, std::regex("(sorted|ranges) \\(\\d+ of them twins"));
            EXPECT_EQ(has_twins ? found.str(1) : "", prefers_twins ? twins : "") << choice;
            plan->set_values(problem.a, problem.b);
            EXPECT_TRUE(identical(*alone, check_product(*plan, problem, item)));
          }
        }
      }
    }
  }
}

using SpgemmTwins = GpuTest;
using SanitizerSpgemmTwins = GpuTest;

}  // namespace

TEST_F(SpgemmTwins, HaveTheBitsOfRowsMadeAlone) {
  check_twins({{4, 1, 0, "sorted"},
               {8, 1500, 0, "sorted"},
               {15, 3000, 0, "sorted"},
               {31, 3000, 0, "sorted"},
               {60, 3000, 0, "sorted"},
               {31, 700, 0, "ranges"},  // counted there, and then sorted
               {11, 1, 0, ""},
               {15, 1, 0, "ranges"},
               {21, 1, 0, "ranges"},
               {70, 1, 0, "ranges"},
               {70, 300, 3, "ranges"}});
}
TEST_F(SanitizerSpgemmTwins, HaveTheBitsOfRowsMadeAlone) {
  check_twins({{4, 1, 0, "sorted"},
               {15, 3000, 0, "sorted"},
               {31, 700, 0, "ranges"},
               {21, 1, 0, "ranges"},
               {70, 300, 3, "ranges"}});
}

TEST_F(SpgemmTwins, HaveTheSameBitsInBlocksOfRows) {
  for (const auto& [length, spread, alike] : {std::array{30, 1, 0}, {8, 1500, 0}, {70, 300, 3}}) {
    const ProductOperands operands = of_twins(length, spread, alike, 7);
    check_row_blocks(problem_of(operands, {}), rules_for_twins(true), 2);
  }
}

namespace {

/// Triangles in a band, three unknowns each, joined to three others: 12 entries a row. Its row i
/// stands at i * step.
CsrMatrix of_triangles(Index triangles, Index step) {
  const Index rows = 3 * triangles;
  std::vector<Entry> entries;
  for (Index i = 0; i < rows; ++i) {
    for (const Index other : {0, 1, 9, triangles - 1}) {
      for (Index k = 0; k < 3; ++k) {
        const Index col = (i / 3 + other) % triangles * 3 + k;
        entries.push_back({i * step % rows, col, random_value(87, i, col)});
      }
    }
  }
  return matrix_of(rows, rows, entries);
}

/// Twins of short rows are found side by side, and only there; C's bits are the same.
void check_short_twins(Index triangles) {
  const CsrMatrix b = of_triangles(triangles, 1);
  for (const Index step : {1, 11}) {
    const ProductOperands operands = {of_triangles(triangles, step), b};
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const ProductCase item = case_of(kind, Semiring::plus_times);
      const SpgemmProblem problem = problem_of(operands, item);
      const CsrMatrix alone = product_of(*plan_by(rules_for_twins(false), problem), problem);
      const auto plan = plan_by(rules_for_twins(true), problem);
      EXPECT_TRUE(identical(alone, check_product(*plan, problem, item)));
      EXPECT_EQ(plan->choice().find("of them twins") != std::string::npos, step == 1)
          << plan->choice();
      check_row_blocks(problem, rules_for_twins(true), 2);
    }
  }
}

}  // namespace

TEST_F(SpgemmTwins, OfShortRowsAreFoundSideBySide) { check_short_twins(700); }
TEST_F(SanitizerSpgemmTwins, OfShortRowsAreFoundSideBySide) { check_short_twins(100); }

/// Groups of three rows with the same 66 sources, whose rows of B have 64 entries; the last row has
/// half of them.
TEST_F(SpgemmTwins, AreMadeAgainForNewValues) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 90; ++i) {
    for (Index k = 0; k < (i == 89 ? 33 : 66); ++k) {
      a.push_back({i, i / 3 + k, random_value(73, i, k)});
    }
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 64; ++k) b.push_back({i, i + k, random_value(74, i, k)});
  }
  const ProductOperands operands = {matrix_of(90, 100, a), matrix_of(100, 170, b)};
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    const ProductCase item = case_of(kind, Semiring::plus_times);
    const SpgemmProblem problem = problem_of(operands, item);
    for (const Offset fewest : {Offset{10}, Offset{1'000}}) {
      gpu::BinRules rules;
      rules.prefers_one_pass = false;
      rules.fewest_for_warps = 0;
      rules.most_listed = rules.most_listed_of_few = 1'000;
      rules.fewest_twin_warps = fewest;
      const auto plan = plan_by(rules, problem);
      plan->expect_new_values();
      product_of(*plan, problem);
      plan->set_values(problem.a, problem.b);
      const CheckResult result = check_spgemm(problem, product_of(*plan, problem), item.check);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_EQ(plan->choice().find("because most rows are twins") != std::string::npos,
                fewest == 10)
          << plan->choice();
      EXPECT_LE(plan->phases().reuse_peak_bytes, plan->forecast().reuse_bytes);
    }
  }
}

}  // namespace csrkit::testing
