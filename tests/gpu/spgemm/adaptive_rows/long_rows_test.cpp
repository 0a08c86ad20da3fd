// Long rows of adaptive_rows: made by teams of warps and by blocks, cut into parts, sorted; in
// blocks of rows, and by many threads of the host at once.

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

/// Rows of 600 and more products on `cols` columns, by rows of B of `length` entries, five of which
/// have 60 times as many; every fifth row meets all 2,500 rows of B.
ProductOperands of_long_rows(Index length, Index cols) {
  constexpr Index kInner = 2500;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 60; ++i) {
    const Index sources = i % 5 == 0 ? kInner : 600 / length + 1 + i * 3;
    const Index first = i % 5 == 0 ? 0 : i % 50;
    for (Index k = 0; k < sources && first + k < kInner; ++k) {
      a.push_back({i, first + k, random_value(51, i, k)});
    }
  }
  for (Index i = 0; i < kInner; ++i) {
    const Index entries = i % 500 == 3 ? std::min(cols, length * 60) : length;
    const Index step = cols / entries, shift = i * 37 % step;
    for (Index k = 0; k < entries; ++k) b.push_back({i, k * step + shift, random_value(52, i, k)});
  }
  return {matrix_of(60, kInner, a), matrix_of(kInner, cols, b)};
}

/// Long rows are right however many warps make one: in bit ranges, by short and by long rows of B,
/// and in parts of very wide rows, whose thousands of sources are looked up.
void check_long_rows(const std::vector<Index>& lengths) {
  for (const Index cols : {2'000, 8'000, 400'000}) {
    for (const Index length : lengths) {
      const ProductOperands operands = of_long_rows(length, cols);
      for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
        for (const Semiring semiring : {Semiring::plus_times, Semiring::max_times}) {
          const ProductCase item = case_of(kind, semiring);
          SCOPED_TRACE(describe(item) + ", " + std::to_string(cols) + " columns, rows of " +
                       std::to_string(length));
          const SpgemmProblem problem = problem_of(operands, item);
          for (const std::uint32_t fewest : {0u, UINT32_MAX}) {
            gpu::BinRules rules;
            rules.prefers_one_pass = false;
            rules.fewest_for_warps = fewest;
            check_product(*plan_by(rules, problem), problem, item);
          }
        }
      }
    }
  }
}

using SpgemmLongRows = GpuTest;
using SanitizerSpgemmLongRows = GpuTest;

}  // namespace

TEST_F(SpgemmLongRows, InTeamsAndInParts) { check_long_rows({7, 20, 70}); }
TEST_F(SanitizerSpgemmLongRows, InTeamsAndInParts) { check_long_rows({7}); }

/// Two columns that all sources of some rows meet, so that in each step of a block every warp has
/// products for them; the rows are made by blocks of both sizes.
TEST_F(SpgemmLongRows, WhereEverySourceMeetsTheSameColumns) {
  constexpr Index kInner = 2000, kCols = 30'000;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 4; ++i) {
    for (Index k = 0; k < 1500; ++k) a.push_back({i, k + 100 * i, random_value(53, i, k)});
  }
  for (Index k = 0; k < kInner; ++k) {
    for (Index col : {5, 20'000}) b.push_back({k, col, random_value(54, k, col)});
    for (Index n = 0; n < 8; ++n) {
      const Index col = 6 + 2'400 * n + (k * 37 + n * 11) % 2'300;
      b.push_back({k, col, random_value(54, k, col)});
    }
  }
  sort_by_place(b);
  const ProductOperands operands = {matrix_of(4, kInner, a), matrix_of(kInner, kCols, b)};
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      ProductCase item = case_of(kind, semiring);
      item.alpha = 1;
      const SpgemmProblem problem = problem_of(operands, item);
      for (const std::uint32_t most_sorted : {4096u, 0u}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.most_sorted_to_count = rules.most_sorted_to_make = most_sorted;
        check_product(*plan_by(rules, problem), problem, item);
      }
    }
  }
}

/// All of A has too many long rows for teams, its ranges of rows have not: they must not have teams
/// either, as the warps of a team add up in another order.
TEST_F(SpgemmLongRows, HaveTheSameBitsInBlocksOfRows) {
  const ProductOperands operands = of_long_rows(7, 8'000);
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  rules.fewest_for_warps = 40;
  check_row_blocks(problem_of(operands, {}), rules, 4);
}

/// Rows that half of the product would wait for, but not the whole: large teams add up in another
/// order, so neither makes them.
TEST_F(SpgemmLongRows, HaveTheSameTeamsInBlocksOfRows) {
  constexpr Index kRows = 120, kSources = 180, kLength = 25, kStep = 320;
  constexpr std::uint32_t kProducts = kSources * kLength;
  std::vector<Entry> a, b;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < kSources; ++k) a.push_back({i, i + k, random_value(89, i, k)});
  }
  for (Index i = 0; i < kRows + kSources; ++i) {
    for (Index k = 0; k < kLength; ++k) {
      const auto shift = static_cast<Index>(random_word(90, i, k) % kStep);
      b.push_back({i, k * kStep + shift, random_value(91, i, k)});
    }
  }
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  const gpu::BitRangeRows all = {kRows, kProducts, Offset{kRows} * kProducts};
  EXPECT_GT(rules.large_team_products(all), kProducts);
  EXPECT_LT(rules.large_team_products({kRows / 2, kProducts, all.products / 2}), kProducts);
  const ProductOperands operands = {matrix_of(kRows, kRows + kSources, a),
                                    matrix_of(kRows + kSources, kLength * kStep, b)};
  const ProductCase item = case_of(ValueKind::f64, Semiring::plus_times);
  check_row_blocks(problem_of(operands, item), rules, 4);
}

namespace {

/// Five rows of up to 1,200 sources of 80 entries on `cols` columns, and 3,000 of 3 sources.
ProductOperands of_rows_with_large_teams(Index cols) {
  constexpr Index kInner = 1'300, kLength = 80;
  std::vector<Entry> a, b;
  for (Index i = 0; i < 5; ++i) {
    for (Index k = 0; k < 400 + 200 * i; ++k) a.push_back({i, k + 10 * i, random_value(92, i, k)});
  }
  for (Index i = 5; i < 3'005; ++i) {
    for (Index k = 0; k < 3; ++k) a.push_back({i, i % 1'200 + 11 * k, random_value(92, i, k)});
  }
  const Index step = cols / kLength;
  for (Index i = 0; i < kInner; ++i) {
    for (Index k = 0; k < kLength; ++k) {
      const auto shift = static_cast<Index>(random_word(93, i, k) % static_cast<unsigned>(step));
      b.push_back({i, k * step + shift, random_value(93, i, k)});
    }
  }
  return {matrix_of(3'005, kInner, a), matrix_of(kInner, cols, b)};
}

void check_large_teams(Index cols, ValueKind kind, Semiring semiring) {
  const ProductCase item = case_of(kind, semiring);
  SCOPED_TRACE(describe(item) + ", " + std::to_string(cols) + " columns");
  const SpgemmProblem problem = problem_of(of_rows_with_large_teams(cols), item);
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  rules.most_alone = gpu::kNeverCut;
  EXPECT_LT(rules.large_team_products({5, 96'000, 1'040'000}), 32'000u)
      << "all five are waited for";
  std::optional<CsrMatrix> first;
  for (int run = 0; run < 3; ++run) check_bits(rules, problem, item, first);
  check_row_blocks(problem, rules, 4);
}

}  // namespace

/// By sixteen warps; for want of room by eight in f64 on 2,400 columns and in f32 on 3,500, and by
/// four in f64 on 3,500.
TEST_F(SpgemmLongRows, ThatAreWaitedForHaveLargeTeams) {
  for (const Index cols : {600, 2'400, 3'500}) {
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
        check_large_teams(cols, kind, semiring);
      }
    }
  }
}
TEST_F(SanitizerSpgemmLongRows, ThatAreWaitedForHaveLargeTeams) {
  check_large_teams(600, ValueKind::f32, Semiring::plus_times);
  check_large_teams(3'500, ValueKind::f64, Semiring::plus_times);
}

/// Rows of 4,900 products on 6,500 words of columns come from bits of the whole row.
TEST_F(SpgemmLongRows, OnManyWordsAreNotCut) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 40; ++i) {
    for (Index k = 0; k < 70; ++k) a.push_back({i, (i + k) % 100, random_value(88, i, k)});
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 70; ++k) b.push_back({i, 3'000 * k + 2 * i, random_value(89, i, k)});
  }
  const ProductOperands operands = {matrix_of(40, 100, a), matrix_of(100, 210'000, b)};
  check_choice(operands, "40 in bit ranges");
}

namespace {

/// 3,000 rows of 3 sources, and before them `count` rows of 1,570 sources of 38 entries, the first
/// two of which all sources have.
ProductOperands of_rows_to_wait_for(Index count) {
  constexpr Index kSources = 1'570, kLength = 38;
  std::vector<Entry> a, b;
  for (Index i = 0; i < count; ++i) {
    for (Index k = 0; k < kSources; ++k) a.push_back({i, k + i, random_value(83, i, k)});
  }
  for (Index i = count; i < count + 3'000; ++i) {
    for (Index k = 0; k < 3; ++k) a.push_back({i, i % 1'500 + 11 * k, random_value(83, i, k)});
  }
  for (Index i = 0; i < kSources + 50; ++i) {
    for (Index k = 0; k < kLength; ++k) {
      const Index col = k < 2 ? k * 9'000 : k * 550 + i * 37 % 550;
      b.push_back({i, col, random_value(84, i, k)});
    }
  }
  sort_by_place(b);
  b.erase(
      std::unique(b.begin(), b.end(),
                  [](const Entry& x, const Entry& y) { return x.row == y.row && x.col == y.col; }),
      b.end());
  return {matrix_of(count + 3'000, kSources + 50, a), matrix_of(kSources + 50, 21'000, b)};
}

/// A row that takes longer than all others is cut although a block could make it: by choice, and
/// where nothing else is asked for.
void check_rows_to_wait_for(Index count) {
  const ProductOperands operands = of_rows_to_wait_for(count);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      for (const unsigned long long most_alone : {0ull, 10'000ull, gpu::kNeverCut}) {
        std::optional<CsrMatrix> first;
        for (int run = 0; run < 2; ++run) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.most_alone = most_alone;
          const std::string choice = check_bits(rules, problem, item, first);
          EXPECT_EQ(choice.find(" 0 in parts") == std::string::npos, most_alone != gpu::kNeverCut)
              << choice;
        }
      }
    }
  }
}

}  // namespace

TEST_F(SpgemmLongRows, AreCutWhereTheyWouldBeWaitedFor) {
  check_rows_to_wait_for(1);
  check_rows_to_wait_for(7);
}
TEST_F(SanitizerSpgemmLongRows, AreCutWhereTheyWouldBeWaitedFor) { check_rows_to_wait_for(1); }

/// The range of rows that has no long row is cut like the other.
TEST_F(SpgemmLongRows, AreCutAlikeInBlocksOfRows) {
  const ProductOperands operands = of_rows_to_wait_for(2);
  const SpgemmProblem problem = problem_of(operands, {});
  gpu::BinRules rules;
  rules.prefers_one_pass = false;
  check_row_blocks(problem, rules, 4);
  const auto plan = plan_by(rules, problem);
  product_of(*plan, problem);
  EXPECT_NE(plan->choice().find(" 2 in parts"), std::string::npos) << plan->choice();
}

/// Rows of 60 sources, 3,600 products and hardly a column twice: teams would have room for few.
TEST_F(SpgemmLongRows, AreSortedWhereColumnsHardlyComeTwice) {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 40; ++i) {
    for (Index k = 0; k < 60; ++k) a.push_back({i, i + k, random_value(85, i, k)});
  }
  for (Index i = 0; i < 100; ++i) {
    for (Index k = 0; k < 60; ++k) {
      b.push_back({i, k * 1'600 + i * 397 % 1'600, random_value(86, i, k)});
    }
  }
  const ProductOperands operands = {matrix_of(40, 100, a), matrix_of(100, 96'000, b)};
  check_choice(operands, "40 sorted");
}

/// What a kernel may take of shared memory belongs to the kernel, not to a launch: threads that
/// launch it with more and with less of it at once must not take it from each other.
TEST_F(SpgemmLongRows, MayBeMadeByManyThreadsAtOnce) {
  std::vector<ProductOperands> operands;
  for (const Index cols : {2'000, 8'000, 20'000}) {
    for (const Index length : {7, 70}) operands.push_back(of_long_rows(length, cols));
  }
  const auto multiply = [](const ProductOperands& of) {
    const SpgemmProblem problem = problem_of(of, {});
    gpu::BinRules rules;
    rules.prefers_one_pass = false;
    return product_of(*plan_by(rules, problem), problem);
  };
  std::vector<CsrMatrix> alone;
  for (const ProductOperands& of : operands) alone.push_back(multiply(of));
  std::vector<std::string> failures(operands.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        for (int round = 0; round < 50 && failures[i].empty(); ++round) {
          if (!identical(multiply(operands[i]), alone[i])) failures[i] = "other bits";
        }
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

}  // namespace csrkit::testing
