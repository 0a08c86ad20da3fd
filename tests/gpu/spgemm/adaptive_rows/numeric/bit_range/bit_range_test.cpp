// Rows of adaptive_rows that come from a bit per column: where they are dense, where few words have
// a bit, and how their sums are added up.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/spgemm/adaptive_rows/adaptive_rows_checks.h"

namespace csrkit::testing {

namespace {

/// 500 rows of 18 to 22 neighbouring sources, whose rows of B have 20 neighbouring columns: some
/// 400 products on 40 columns, which a warp might sort.
ProductOperands of_dense_rows() {
  std::vector<Entry> a, b;
  for (Index i = 0; i < 500; ++i) {
    for (Index k = 0; k < 18 + i % 5; ++k) {
      a.push_back({i, i % 90 + k, random_value(71, i, k)});
    }
  }
  for (Index i = 0; i < 120; ++i) {
    for (Index k = 0; k < 20; ++k) b.push_back({i, 11 * (i % 7) + i + k, random_value(72, i, k)});
  }
  return {matrix_of(500, 120, a), matrix_of(120, 300, b)};
}

/// They come from bits, and others sorted; both are right, and the same every time.
void check_dense_rows() {
  const ProductOperands operands = of_dense_rows();
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      for (const bool are_dense : {false, true}) {
        gpu::BinRules rules = rules_for_twins(true);
        if (!are_dense) rules.fewest_dense = 1000;
        const auto plan = plan_by(rules, problem);
        const CsrMatrix c = check_product(*plan, problem, item);
        EXPECT_EQ(plan->choice().find(" 0 in bit ranges") == std::string::npos, are_dense)
            << plan->choice();
        EXPECT_TRUE(identical(c, check_product(*plan_by(rules, problem), problem, item)));
      }
    }
  }
}

using SpgemmDenseRows = GpuTest;
using SanitizerSpgemmDenseRows = GpuTest;

}  // namespace

TEST_F(SpgemmDenseRows, ComeFromBits) { check_dense_rows(); }
TEST_F(SanitizerSpgemmDenseRows, ComeFromBits) { check_dense_rows(); }

namespace {

/// Rows of 576 products on the 96 columns of three places far from each other; those of every
/// tenth row are scattered instead, and every 45th is empty.
ProductOperands of_few_words(Index rows) {
  constexpr Index kSources = 24, kFar = 4'000;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    if (i % 45 == 44) continue;
    const Index first = i % 10 == 9 ? kFar : i % 3'000;
    for (Index k = 0; k < kSources; ++k) {
      a.push_back({i, first + k * (i % 10 == 9 ? 7 : 1), random_value(81, i, k)});
    }
  }
  for (Index i = 0; i < kFar + 7 * kSources; ++i) {
    for (Index k = 0; k < kSources; ++k) {
      const Index col = i < kFar ? i + k % 8 + 5'000 * (k / 8) : k * 700 + i * 61 % 700;
      b.push_back({i, col, random_value(82, i, k)});
    }
  }
  sort_by_place(b);
  return {matrix_of(rows, kFar + 7 * kSources, a), matrix_of(kFar + 7 * kSources, 17'000, b)};
}

/// Words that counting keeps with their numbers, or finds too many of, lead to the same bits as
/// columns that are looked for again: where a warp counts a row and where a block does.
void check_few_words(const std::vector<Index>& sizes) {
  for (const Index rows : sizes) {
    const ProductOperands operands = of_few_words(rows);
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      const ProductCase item = case_of(kind, Semiring::plus_times);
      SCOPED_TRACE(describe(item) + ", " + std::to_string(rows) + " rows");
      const SpgemmProblem problem = problem_of(operands, item);
      for (const std::uint32_t fewest_for_warps : {0u, UINT32_MAX}) {
        std::optional<CsrMatrix> first;
        for (const bool keeps_pairs : {false, true}) {
          gpu::BinRules rules;
          rules.prefers_one_pass = false;
          rules.fewest_for_warps = fewest_for_warps;
          rules.keeps_pairs = keeps_pairs;
          rules.prefers_twins = false;
          if (rows < 1'000) rules.fewest_counted_by_warps = rows == 900 ? 900 : 100;
          const std::string choice = check_bits(rules, problem, item, first);
          EXPECT_NE(choice.find(std::to_string(rows - rows / 45) + " in bit ranges"),
                    std::string::npos)
              << choice;
        }
      }
    }
  }
}

using SpgemmFewWords = GpuTest;
using SanitizerSpgemmFewWords = GpuTest;

}  // namespace

TEST_F(SpgemmFewWords, AreKeptWithTheirNumbers) { check_few_words({120, 900, 18'000}); }
TEST_F(SanitizerSpgemmFewWords, AreKeptWithTheirNumbers) { check_few_words({120}); }

namespace {

/// Rows of 10 to 150 sources of some 80 entries on `cols` columns, so that teams share their sums
/// in most: of every column, or of C's alone. They are right, and the same every time, new values
/// too.
void check_shared_sums(Index rows) {
  for (const Index cols : {700, 7'000}) {
    std::vector<Entry> a, b;
    for (Index i = 0; i < rows; ++i) {
      const Index sources = i % 4 == 3 ? 150 : 10 + i;
      for (Index k = 0; k < sources; ++k) a.push_back({i, i + k, random_value(87, i, k)});
    }
    for (Index i = 0; i < rows + 150; ++i) {
      const Index entries = 75 + i % 11, step = cols / entries;
      for (Index k = 0; k < entries; ++k) {
        b.push_back({i, k * step + i * 5 % step, random_value(88, i, k)});
      }
    }
    const ProductOperands operands = {matrix_of(rows, rows + 150, a),
                                      matrix_of(rows + 150, cols, b)};
    for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
      for (const Semiring semiring : {Semiring::plus_times, Semiring::max_times}) {
        const ProductCase item = case_of(kind, semiring);
        SCOPED_TRACE(describe(item) + ", " + std::to_string(cols) + " columns");
        const SpgemmProblem problem = problem_of(operands, item);
        for (const bool keeps_bits : {false, true}) {
          std::optional<CsrMatrix> first;
          for (int run = 0; run < 2; ++run) {
            gpu::BinRules rules;
            rules.prefers_one_pass = false;
            rules.keeps_any_bits = keeps_bits;
            check_bits(rules, problem, item, first);
          }
        }
      }
    }
  }
}

using SpgemmSharedSums = GpuTest;
using SanitizerSpgemmSharedSums = GpuTest;

}  // namespace

TEST_F(SpgemmSharedSums, OfTeams) { check_shared_sums(60); }
TEST_F(SanitizerSpgemmSharedSums, OfTeams) { check_shared_sums(9); }

namespace {

/// Rows of C that a block makes, in turn of few repeats, of some, of some from short rows of B, and
/// of some on few of many words; the first entries of every row of B are columns that two, some or
/// all sources of a row have.
ProductOperands of_blocks(Index rows) {
  constexpr Index kZone = 200, kCols = 44'000;  // rows of B for each kind of row
  constexpr struct {
    Index sources, length, cols;
  } kKinds[] = {{64, 50, 30'000}, {64, 60, 3'000}, {128, 20, 1'000}, {100, 60, 3'060}};
  constexpr Index kCount = std::size(kKinds), kOnFewWords = 3;
  std::vector<Entry> a, b;
  for (Index i = 0; i < rows; ++i) {
    const Index kind = i % kCount, first = kind * kZone + i % 5 * 10;
    for (Index k = 0; k < kKinds[kind].sources; ++k) {
      a.push_back({i, first + k, random_value(91, i, k)});
    }
  }
  // Every fourth word, of which half have 4 columns and half have 14.
  const auto on_few_words = [](Index number) {
    const Index rest = number - 680;
    return number < 680 ? (3 + number / 4 * 4) * 32 + number % 4 * 7
                        : (683 + rest / 14 * 4) * 32 + rest % 14 * 2;
  };
  for (Index j = 0; j < kCount * kZone; ++j) {
    const auto [sources, length, cols] = kKinds[j / kZone];
    std::set<Index> of_row = {3, 10 + j / 2 % 100, 200 + j % 7};
    for (Index k = 0; k < length; ++k) {
      const auto random = static_cast<Index>(random_word(92, j, k) % cols);
      of_row.insert(j / kZone == kOnFewWords ? on_few_words(random) : std::max<Index>(random, 250));
    }
    for (const Index col : of_row) b.push_back({j, col, random_value(93, j, col)});
  }
  return {matrix_of(rows, kCount * kZone, a), matrix_of(kCount * kZone, kCols, b)};
}

/// How a block of kThreadsOfBlock adds up a row of C = A B.
gpu::BlockSums block_sums_of(const SpgemmProblem& problem, const CsrMatrix& c, Index row) {
  gpu::RowFacts facts;
  facts.sources = problem.a.row_length(row);
  for (Offset i = problem.a.row_offsets()[row]; i < problem.a.row_offsets()[row + 1]; ++i) {
    facts.products += static_cast<std::uint32_t>(problem.b.row_length(problem.a.col_indices()[i]));
  }
  facts.words = static_cast<std::uint32_t>(c.col_indices()[c.row_offsets()[row + 1] - 1] / 32 + 1);
  return gpu::block_sums(facts, static_cast<std::uint32_t>(c.row_length(row)), gpu::kThreadsOfBlock,
                         static_cast<std::uint32_t>(size_of(problem.c)),
                         static_cast<std::uint64_t>(gpu::BinRules().most_block_bytes));
}

/// Blocks' rows are right in each way, and the same every time, whatever counting has kept; new
/// values too. With `most_block_bytes` too few for some sums, which are in C then.
void check_block_sums(Index rows, int most_block_bytes) {
  const ProductOperands operands = of_blocks(rows);
  for (const ValueKind kind : {ValueKind::f32, ValueKind::f64}) {
    for (const Semiring semiring : {Semiring::plus_times, Semiring::min_plus}) {
      const ProductCase item = case_of(kind, semiring);
      SCOPED_TRACE(describe(item));
      const SpgemmProblem problem = problem_of(operands, item);
      std::optional<CsrMatrix> first;
      for (const auto& [keeps_bits, keeps_pairs] :
           {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
        gpu::BinRules rules;
        rules.prefers_one_pass = false;
        rules.fewest_for_warps = 0;  // no teams
        rules.most_of_a_warp = 512;
        rules.most_sorted_to_count = rules.most_sorted_to_make = 0;
        rules.keeps_any_bits = keeps_bits;
        rules.keeps_pairs = keeps_pairs;
        rules.fewest_counted_by_warps = 0;
        rules.most_block_bytes = most_block_bytes;
        check_bits(rules, problem, item, first);
      }
      EXPECT_EQ(block_sums_of(problem, *first, 0), gpu::BlockSums::claims);
      EXPECT_EQ(block_sums_of(problem, *first, 1), gpu::BlockSums::shares);
      EXPECT_EQ(block_sums_of(problem, *first, 2), gpu::BlockSums::turns);
      EXPECT_EQ(block_sums_of(problem, *first, 3), gpu::BlockSums::shares);
    }
  }
}

using SpgemmBlockSums = GpuTest;
using SanitizerSpgemmBlockSums = GpuTest;

}  // namespace

TEST_F(SpgemmBlockSums, AreRightInEveryWay) { check_block_sums(60, 102 * 1024); }
TEST_F(SpgemmBlockSums, AreRightInC) { check_block_sums(60, 24 * 1024); }
TEST_F(SanitizerSpgemmBlockSums, AreRightInEveryWay) { check_block_sums(4, 102 * 1024); }

}  // namespace csrkit::testing
