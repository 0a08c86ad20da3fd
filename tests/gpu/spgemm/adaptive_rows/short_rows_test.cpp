// Rows of adaptive_rows of few products: merged, in registers of a thread, sorted by a warp, and
// made while they are counted.

#include <algorithm>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

/// 2,000 rows of every length up to 700 products, empty ones and ones with more between them; the
/// first 64 are those of a mesh, of 20 products each.
ProductOperands of_many_lengths() {
  constexpr Index kInner = 180;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 64; ++i) {
    for (Index k = 0; k < 4; ++k) a.push_back({i, i + k, random_value(41, i, k)});
  }
  for (Index i = 64; i < 2000; ++i) {
    const auto sources = static_cast<Index>(random_word(42, i, 0) % 17);
    const auto first = static_cast<Index>(random_word(43, i, 0) % 100);
    for (Index k = 0; k < sources; ++k) a.push_back({i, first + 5 * k, random_value(44, i, k)});
  }
  for (Index i = 0; i < kInner; ++i) {
    const auto some = static_cast<Index>(random_word(45, i, 0) % 45);
    const Index length = i < 70 ? 5 : i % 11 == 0 ? 300 : some;
    for (Index k = 0; k < length; ++k) {
      b.push_back({i, (i * 13) % 800 + 3 * k, random_value(46, i, k)});
    }
  }
  return {matrix_of(2000, kInner, a), matrix_of(kInner, 2000, b)};
}

/// The short rows of all lists in one launch are right, and have the same bits whether those of a
/// mesh come from lists of their own or not, and whether the host knows how many they are or not.
void check_short_rows() {
  const ProductOperands operands = of_many_lengths();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      for (const int way : {0, 1, 2}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.prefers_merging = way == 0;
        rules.fewest_merged_rows = 0;
        if (way == 2) rules.most_early = 0;
        const CsrMatrix c = check_product(*plan_by(rules, problem), problem, item);
        if (!first) first = c;
        EXPECT_TRUE(identical(*first, c)) << describe(item);
      }
    }
  }
}

using SpgemmShortRows = GpuTest;
using SanitizerSpgemmShortRows = GpuTest;

}  // namespace

TEST_F(SpgemmShortRows, OfEveryLengthInOneLaunch) { check_short_rows(); }
TEST_F(SanitizerSpgemmShortRows, OfEveryLengthInOneLaunch) { check_short_rows(); }

namespace {

constexpr Index kRowsOfAGrid = 640;

/// Rows of three grids, of four sources and 20 products, of five and 25, of six and 36; then rows
/// that are like no other.
ProductOperands of_grids() {
  constexpr Index kApart = 700, kReach[] = {0, 1, 2, 30, 31, 32};
  std::vector<Entry> a, b;
  for (Index grid = 0; grid < 3; ++grid) {
    for (Index i = 0; i < kRowsOfAGrid; ++i) {
      const Index row = grid * kRowsOfAGrid + i;
      for (Index k = 0; k < 4 + grid; ++k) {
        a.push_back({row, grid * kApart + i + kReach[k], random_value(91, row, k)});
      }
    }
    for (Index i = 0; i < kApart; ++i) {
      const Index row = grid * kApart + i;
      for (Index k = 0; k < (grid < 2 ? 5 : 6); ++k) {
        b.push_back({row, row + kReach[k], random_value(92, row, k)});
      }
    }
  }
  for (Index row = 3 * kRowsOfAGrid; row < 2000; ++row) {
    for (Index k = 0; k < row % 9; ++k) a.push_back({row, 200 * k, random_value(91, row, k)});
  }
  return {matrix_of(2000, 3 * kApart, a), matrix_of(3 * kApart, 3 * kApart + 40, b)};
}

/// Merged rows are right and have the bits of sorted ones. The first row of each grid but the first
/// is sorted, as it is not like the one before it; so are rows of 36 products in f64, when they are
/// made.
void check_merged_rows() {
  const ProductOperands operands = of_grids();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      gpu::BinRules rules;
      rules.prefers_one_pass = false;
      rules.fewest_merged_rows = 0;
      std::optional<CsrMatrix> first;
      check_bits(rules, problem, item, first);
      const auto plan = plan_by(rules, problem);
      product_of(*plan, problem);
      const Index merged = kind == ValueKind::f32 ? 3 * kRowsOfAGrid - 2 : 2 * kRowsOfAGrid - 1;
      EXPECT_NE(plan->choice().find(std::to_string(merged) + " merged"), std::string::npos)
          << plan->choice();
      rules.prefers_merging = false;
      check_bits(rules, problem, item, first);
    }
  }
}

using SpgemmMergedRows = GpuTest;
using SanitizerSpgemmMergedRows = GpuTest;

}  // namespace

TEST_F(SpgemmMergedRows, HaveTheBitsOfSortedOnes) { check_merged_rows(); }
TEST_F(SanitizerSpgemmMergedRows, HaveTheBitsOfSortedOnes) { check_merged_rows(); }

namespace {

/// Rows of up to 24 products, most of at most 8; some sources are empty rows of B, and many columns
/// come twice. Columns are `apart`.
ProductOperands of_few_products(Index rows, Index apart) {
  constexpr Index kInner = 300;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    const auto sources = static_cast<Index>(random_word(81, i, 0) % (i % 3 == 0 ? 12 : 5));
    const auto first = static_cast<Index>(random_word(82, i, 0) % 200);
    for (Index k = 0; k < sources; ++k) a.push_back({i, first + 7 * k, random_value(83, i, k)});
  }
  for (Index i = 0; i < kInner; ++i) {
    const auto length = static_cast<Index>(random_word(84, i, 0) % 4);
    for (Index k = 0; k < length; ++k) {
      b.push_back({i, apart * (i % 5 + 2 * k), random_value(85, i, k)});
    }
  }
  return {matrix_of(rows, kInner, a), matrix_of(kInner, apart * 10 + 1, b)};
}

/// Rows of at most 16 products are right where threads sort them, also for new values, and have the
/// bits that they have from four lanes. Columns 900,000 apart do not fit keys from column 0 on.
void check_tiny_rows(Index rows, const std::vector<Semiring>& semirings) {
  for (const Index apart : {Index{1}, Index{900'000}}) {
    const ProductOperands operands = of_few_products(rows, apart);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Semiring semiring : semirings) {
        const ProductCase item = case_of(kind, semiring);
        const SpgemmProblem problem = problem_of(operands, item);
        std::optional<CsrMatrix> first;
        for (const bool in_threads : {false, true}) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.most_early = 0;
          rules.most_listed = rules.most_listed_of_few = 0;
          if (in_threads) rules.fewest_tiny = 0;
          const auto plan = plan_by(rules, problem);
          const CsrMatrix c = check_product(*plan, problem, item);
          if (!first) first = c;
          EXPECT_TRUE(identical(*first, c)) << describe(item);
          plan->expect_new_values();
          EXPECT_TRUE(identical(*first, product_of(*plan, problem))) << describe(item);
          plan->set_values(problem.a, problem.b);
          EXPECT_TRUE(identical(*first, product_of(*plan, problem))) << describe(item);
        }
      }
    }
  }
}

/// Points of a cube of `side` points a side in random order, each with the points around it: 27 or,
/// if it has several `unknowns`, 7. A point's rows have the same columns: they are twins.
ProductOperands of_shuffled_cube(Index side, Index unknowns) {
  const Index points = side * side * side;
  std::vector<Index> at(static_cast<std::size_t>(points));
  for (Index i = 0; i < points; ++i) at[static_cast<std::size_t>(i)] = i;
  std::shuffle(at.begin(), at.end(), std::mt19937(7));
  const auto place = [&](Index x, Index y, Index z) {
    return at[static_cast<std::size_t>((x * side + y) * side + z)];
  };
  const auto near = [side](Index x) {
    return std::pair(std::max(x - 1, 0), std::min(x + 2, side));
  };
  std::vector<Entry> entries;
  for (Index point = 0; point < points; ++point) {
    const Index x = point / (side * side), y = point / side % side, z = point % side;
    for (Index u = near(x).first; u < near(x).second; ++u) {
      for (Index v = near(y).first; v < near(y).second; ++v) {
        for (Index w = near(z).first; w < near(z).second; ++w) {
          if (unknowns > 1 && std::abs(u - x) + std::abs(v - y) + std::abs(w - z) > 1) continue;
          for (Index i = 0; i < unknowns; ++i) {
            for (Index j = 0; j < unknowns; ++j) {
              const Index row = place(x, y, z) * unknowns + i, col = place(u, v, w) * unknowns + j;
              entries.push_back({row, col, random_value(91, row, col)});
            }
          }
        }
      }
    }
  }
  sort_by_place(entries);
  const CsrMatrix a = matrix_of(points * unknowns, points * unknowns, entries);
  return {a, a};
}

/// Rows made while they are counted have the bits of rows made later, with room for all of them,
/// for some and for none; also where there are twins.
void check_staged_rows(Index side, Index unknowns) {
  const ProductOperands operands = of_shuffled_cube(side, unknowns);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      Offset staged_before = 0;
      for (const Offset bytes : {Offset{0}, Offset{1} << 12, Offset{1} << 20, Offset{1} << 30}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.prefers_bit_ranges = false;
        rules.most_early = 0;
        rules.most_staged_bytes = bytes;
        const auto plan = plan_by(rules, problem);
        const CsrMatrix c = check_product(*plan, problem, item);
        if (!first) first = c;
        EXPECT_TRUE(identical(*first, c)) << describe(item);
        std::smatch found;
        const std::string choice = plan->choice();
        const bool stages =
            std::regex_search(choice, found, std::regex("\\((\\d+) while they were counted"));
        const Offset staged = stages ? std::stoll(found.str(1)) : 0;
        EXPECT_EQ(stages, bytes > 1 << 12) << choice;
        // which of several twins is counted differs from run to run
        if (unknowns == 1) {
          EXPECT_GE(staged, staged_before) << choice;
        }
        staged_before = staged;
      }
      EXPECT_GT(staged_before, side * side * side / 2);
    }
  }
}

using SpgemmStagedRows = GpuTest;
using SanitizerSpgemmStagedRows = GpuTest;
using SpgemmTinyRows = GpuTest;
using SanitizerSpgemmTinyRows = GpuTest;

}  // namespace

TEST_F(SpgemmStagedRows, HaveTheBitsOfRowsMadeLater) { check_staged_rows(24, 1); }
TEST_F(SpgemmStagedRows, OfTwins) { check_staged_rows(14, 2); }
TEST_F(SanitizerSpgemmStagedRows, HaveTheBitsOfRowsMadeLater) { check_staged_rows(8, 1); }
TEST_F(SanitizerSpgemmStagedRows, OfTwins) { check_staged_rows(6, 2); }

TEST_F(SpgemmTinyRows, HaveTheBitsOfFourLanes) {
  check_tiny_rows(
      5'000, {Semiring::plus_times, Semiring::min_plus, Semiring::max_times, Semiring::or_and});
}
/// So many that a thread chooses the bins of four rows.
TEST_F(SpgemmTinyRows, OfManyRows) {
  constexpr Index kRows = 600'011;
  const ProductOperands few = of_few_products(700, 1);
  std::vector<Entry> a;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < i % 4; ++k)
      a.push_back({i, (i % 300 * 7 + 11 * k) % 300, random_value(86, i, k)});
  }
  const ProductOperands operands = {matrix_of(kRows, 300, a), few.b};
  const ProductCase item = case_of(ValueKind::f64, Semiring::plus_times);
  const SpgemmProblem problem = problem_of(operands, item);
  check_product(*plan_by({}, problem), problem, item);
}
TEST_F(SanitizerSpgemmTinyRows, HaveTheBitsOfFourLanes) {
  check_tiny_rows(700, {Semiring::plus_times});
}

}  // namespace csrkit::testing
