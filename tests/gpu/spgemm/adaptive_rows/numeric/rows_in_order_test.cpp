// Products of adaptive_rows whose rows are nearly all of at most 16 products: made in one pass.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

/// What a product of mostly tiny rows has beside them.
struct Beside {
  Index longer_of_100 = 0;  // rows of up to 64 products
  Index copies_of_100 = 0;  // rows that are one row of B of 100 entries
  Index longest = 64;       // of one row: about twice its products, which are no copies
};

/// `rows` rows of at most 16 products, some empty or of empty rows of B, whose columns often come
/// twice; and those beside them. Columns are `apart`.
ProductOperands of_tiny_rows(Index rows, Index apart, const Beside& beside) {
  constexpr Index kTiny = 300, kInner = 305, kLength = 100;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    const auto kind = static_cast<Index>(random_word(81, i, 0) % 100);
    if (kind < beside.copies_of_100) {
      a.push_back({i, kTiny + kind % 5, random_value(86, i, 0)});
      continue;
    }
    const bool is_longer = kind < beside.copies_of_100 + beside.longer_of_100;
    const auto word = static_cast<Index>(random_word(82, i, 0) % 12);
    const Index few = word < 2 ? word : 2 + word % 4;
    const Index sources = is_longer ? 9 + word : few;
    const auto first = static_cast<Index>(random_word(83, i, 0) % 180);
    for (Index k = 0; k < sources; ++k) a.push_back({i, first + 6 * k, random_value(84, i, k)});
  }
  for (Index k = 0; k * 4 < beside.longest; ++k) a.push_back({rows, k, random_value(88, k, 0)});
  for (Index i = 0; i < kTiny; ++i) {
    const Index length = i % 7 == 0 ? 0 : 1 + i % 4;
    for (Index k = 0; k < length; ++k) {
      b.push_back({i, apart * (i % 5 + 2 * k), random_value(85, i, k)});
    }
  }
  for (Index i = kTiny; i < kInner; ++i) {
    for (Index k = 0; k < kLength; ++k)
      b.push_back({i, (i + 3 * k) % 1001, random_value(89, i, k)});
  }
  const Index cols = std::max<Index>(1001, apart * 12 + 1);
  return {matrix_of(rows + 1, kInner, a), matrix_of(kInner, cols, b)};
}

/// `may_be_early`: as so small a product may be; else as a large one goes on if it does not fit.
gpu::BinRules rules_for_order(bool is_in_order, bool may_be_early = true) {
  gpu::BinRules rules;
  if (!may_be_early) rules.most_early = 0;
  rules.prefers_one_pass = false;
  rules.fewest_in_order = is_in_order ? 1 : INT32_MAX;
  return rules;
}

/// C is right, says how it was made, and has the bits that it has from bins; also with new values.
void check_in_order(const ProductOperands& operands, bool fits, const ProductCase& item,
                    bool may_be_early = true) {
  const SpgemmProblem problem = problem_of(operands, item);
  std::optional<CsrMatrix> first;
  for (const bool is_in_order : {false, true}) {
    const std::string choice =
        check_bits(rules_for_order(is_in_order, may_be_early), problem, item, first);
    const bool was_in_order = choice.find(" in order") != std::string::npos;
    EXPECT_EQ(was_in_order, is_in_order && fits) << choice;
  }
}

void check_all_kinds(const ProductOperands& operands, bool fits) {
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      check_in_order(operands, fits, case_of(kind, semiring));
    }
  }
}

using SpgemmRowsInOrder = GpuTest;
using SanitizerSpgemmRowsInOrder = GpuTest;

}  // namespace

TEST_F(SpgemmRowsInOrder, AllTiny) {
  check_all_kinds(of_tiny_rows(20'000, 1, {}), true);
  check_all_kinds(of_tiny_rows(3'000, 600'000, {}), true);
}

TEST_F(SpgemmRowsInOrder, BesideLongerOnesAndCopies) {
  check_all_kinds(of_tiny_rows(20'000, 1, {5, 0}), true);
  check_all_kinds(of_tiny_rows(20'000, 1, {4, 5}), true);
  check_all_kinds(of_tiny_rows(3'000, 600'000, {4, 5}), true);
}

TEST_F(SpgemmRowsInOrder, OfAnyNumber) {
  for (const Index rows : {0, 126, 127, 128, 129, 4'095}) {
    check_in_order(of_tiny_rows(rows, 1, {0, 5, 16}), true,
                   case_of(ValueKind::f32, Semiring::plus_times));
  }
}

TEST_F(SpgemmRowsInOrder, NotWhereRowsAreLong) {
  const ProductCase item = case_of(ValueKind::f32, Semiring::plus_times);
  for (const bool may_be_early : {true, false}) {
    check_in_order(of_tiny_rows(20'000, 1, {8, 0}), false, item, may_be_early);
    check_in_order(of_tiny_rows(20'000, 1, {0, 0, 300}), false, item, may_be_early);
    check_in_order(of_tiny_rows(20'000, 1, {0, 30}), false, item, may_be_early);
  }
}

TEST_F(SpgemmRowsInOrder, NotWhereBIsWide) {
  const ProductCase item = case_of(ValueKind::f32, Semiring::plus_times);
  check_in_order(of_tiny_rows(3'000, 699'050, {}), true, item);
  check_in_order(of_tiny_rows(3'000, 699'051, {}), false, item);
}

/// C gets room for every product there, which is more than it can have entries.
TEST_F(SpgemmRowsInOrder, NotWhereCHasFewColumns) {
  constexpr Index kRows = 400'000, kSources = 4, kApart = 25, kCols = 4;
  std::vector<Entry> a, b;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < kSources; ++k) {
      a.push_back({i, i % kApart + kApart * k, random_value(90, i, k)});
    }
  }
  for (Index i = 0; i < kApart * kSources; ++i) {
    for (Index k = 0; k < kCols; ++k) b.push_back({i, k, random_value(91, i, k)});
  }
  const ProductCase item = case_of(ValueKind::f32, Semiring::plus_times);
  const SpgemmProblem problem = problem_of(
      {matrix_of(kRows, kApart * kSources, a), matrix_of(kApart * kSources, kCols, b)}, item);
  gpu::BinRules rules;
  rules.most_staged_bytes = 0;  // room that a forecast has beside C
  const auto plan = plan_by(rules, problem);
  check_product(*plan, problem, item);
  EXPECT_EQ(plan->choice().find(" in order"), std::string::npos) << plan->choice();
}

TEST_F(SpgemmRowsInOrder, NotInBlocksOfRows) {
  const ProductCase item = case_of(ValueKind::f64, Semiring::plus_times);
  const SpgemmProblem problem = problem_of(of_tiny_rows(20'000, 1, {5, 2}), item);
  const std::string choice = check_row_blocks(problem, rules_for_order(true), 4);
  EXPECT_EQ(choice.find(" in order"), std::string::npos) << choice;
}

TEST_F(SanitizerSpgemmRowsInOrder, OfAllKinds) {
  check_all_kinds(of_tiny_rows(700, 1, {9, 3}), true);
}

}  // namespace csrkit::testing
