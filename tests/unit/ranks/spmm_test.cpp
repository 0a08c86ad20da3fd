#include "ranks/spmm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "cpu/common/kernels.h"
#include "tests/unit/ranks/integer_products.h"

namespace csrkit::ranks {
namespace {

using testing::fill_b;
using testing::integer_matrix;
using testing::part_of;
using testing::true_row;

std::unique_ptr<SpmmRank> cpu_rank(Communicator& communicator, const Grid& grid, RankPart part,
                                   const SpmmProblem& problem) {
  PlanOptions options;
  options.where.threads = 1;
  return std::make_unique<CpuSpmmRank>(communicator, grid, std::move(part), problem,
                                       find_kernel(cpu::spmm_kernels(), "auto"), options);
}

void expect_cpu_product(const CsrMatrix& a, const Grid& grid, Index dense_cols, int power = 1,
                        const std::optional<PartBorders>& borders = std::nullopt,
                        const std::vector<Index>& split = {}) {
  testing::expect_product(cpu_rank, a, grid, dense_cols, power, borders, split);
}

TEST(RanksSpmm, RowPartsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const int parts : {1, 2, 3, 4, 8, 16, 32, 64}) expect_cpu_product(a, {parts, 1}, 5);
}

TEST(RanksSpmm, GridsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(90, 90, 2);
  for (const Grid& grid : {Grid{1, 2}, Grid{1, 7}, Grid{2, 2}, Grid{3, 4}, Grid{8, 2}}) {
    expect_cpu_product(a, grid, 7);
    expect_cpu_product(a, grid, 32);
  }
}

TEST(RanksSpmm, RectangularMatricesToo) {
  for (const int parts : {2, 5, 16}) {
    expect_cpu_product(integer_matrix(40, 170, 3), {parts, 1}, 4);
    expect_cpu_product(integer_matrix(170, 40, 4), {parts, 2}, 4);
  }
}

TEST(RanksSpmm, PartsMayBeEmpty) {
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_cpu_product(integer_matrix(5, 5, 5), {5, 1}, 3, 1, borders);
  expect_cpu_product(integer_matrix(5, 5, 5), {5, 2}, 3, 2, borders);
}

TEST(RanksSpmm, PowersKeepTheirOperandsInPlace) {
  const CsrMatrix a = integer_matrix(30, 30, 6);
  expect_cpu_product(a, {4, 1}, 3, 2);
  expect_cpu_product(a, {2, 2}, 3, 3);
}

TEST(RanksSpmm, SplitRowsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 8);
  for (const std::vector<Index>& split :
       {std::vector<Index>{75}, {0, 74, 75, 76, 149}, {3, 10, 11, 12, 13, 75}}) {
    for (const Grid& grid : {Grid{2, 1}, Grid{3, 1}, Grid{4, 2}, Grid{16, 1}, Grid{64, 1}}) {
      expect_cpu_product(a, grid, 5, 1, std::nullopt, split);
    }
    expect_cpu_product(a, {4, 1}, 3, 2, std::nullopt, split);
  }
  std::vector<Index> all(40);
  std::iota(all.begin(), all.end(), 0);
  for (const int parts : {2, 5, 16}) {
    expect_cpu_product(integer_matrix(40, 170, 3), {parts, 1}, 4, 1, std::nullopt, all);
    expect_cpu_product(integer_matrix(170, 40, 4), {parts, 2}, 4, 1, std::nullopt, all);
  }
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_cpu_product(integer_matrix(5, 5, 5), {5, 1}, 3, 1, borders, {1, 2, 4});
}

/// Every kind that B and C may have, and NaN only where it belongs.
TEST(RanksSpmm, SumsOfSplitRowsHaveTheKindOfC) {
  for (const ValueKind b : {ValueKind::f16, ValueKind::bf16, ValueKind::f32}) {
    testing::expect_sums_of_the_kind_of_c(cpu_rank, ValueKind::f32, b);
  }
  testing::expect_sums_of_the_kind_of_c(cpu_rank, ValueKind::f64, ValueKind::f64);
}

TEST(RanksSpmm, AWrongSplitRowIsFound) {
  const CsrMatrix a = integer_matrix(60, 60, 7);
  const std::vector<Index> split = {30};
  const RankSections sections = RankSections::of(a, plain_blocks(a, {4}, split), 0, {}, split);
  int wrong = 0;
  run_as_threads(4, [&](Communicator& communicator) {
    RankPart part = part_of(a, sections, communicator.rank());
    if (communicator.rank() == 3) {  // a piece that is not what it was
      part.pieces = CsrMatrix(part.pieces.rows(), part.pieces.cols(), part.pieces.row_offsets(),
                              part.pieces.col_indices(), ValueKind::none, nullptr,
                              std::make_shared<CsrMatrix>(part.pieces));
    }
    const auto rank = cpu_rank(communicator, {4, 1}, std::move(part), default_spmm_problem(a, 3));
    fill_b(*rank);
    rank->multiply(1);
    const auto check = check_sampled_rows(*rank, true_row(*rank),
                                          [&](Index row) { return testing::row_of(a, row); });
    communicator.barrier();
    if (!check.passed) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  });
  EXPECT_EQ(wrong, 1);
}

void with_ranks(const CsrMatrix& a, const Grid& grid, Index dense_cols,
                const std::function<void(SpmmRank&)>& use) {
  const RankSections sections =
      RankSections::of(a, plain_blocks(a, std::vector<Index>{grid.parts}));
  run_as_threads(grid.size(), [&](Communicator& communicator) {
    const std::unique_ptr<SpmmRank> rank =
        cpu_rank(communicator, grid, part_of(a, sections, grid.part_of(communicator.rank())),
                 default_spmm_problem(a, dense_cols));
    use(*rank);
  });
}

TEST(RanksSpmm, WhatIsInCBeforeDoesNotMatter) {
  with_ranks(integer_matrix(60, 60, 7), {4, 1}, 3, [](SpmmRank& rank) {
    fill_b(rank);
    const ConstDenseView c = rank.c();
    auto* const numbers = const_cast<float*>(c.as<float>());
    std::fill_n(numbers, Offset{c.rows} * c.cols, std::numeric_limits<float>::quiet_NaN());
    rank.multiply(1);
    for (Offset at = 0; at < Offset{c.rows} * c.cols; ++at) ASSERT_FALSE(std::isnan(numbers[at]));
  });
}

/// The check must notice a wrong element, and a row of B that arrived in another's place.
TEST(RanksSpmm, TheCheckNoticesWhatIsWrong) {
  with_ranks(integer_matrix(60, 60, 8), {2, 1}, 3, [](SpmmRank& rank) {
    fill_b(rank);
    rank.multiply(1);
    EXPECT_TRUE(check_sampled_rows(rank, true_row(rank)).passed);
    auto* const numbers = const_cast<float*>(rank.c().as<float>());
    numbers[0] += 1;
    const CheckResult wrong = check_sampled_rows(rank, true_row(rank));
    EXPECT_FALSE(wrong.passed);
    EXPECT_NE(wrong.failure.find("expected"), std::string::npos) << wrong.failure;
    numbers[0] -= 1;
    ASSERT_GT(rank.head().halo_cols, 0);
    auto* const halo = const_cast<float*>(rank.row_of_b(rank.part().lists.halo[0]).as<float>());
    halo[0] += 1;
    EXPECT_FALSE(check_sampled_rows(rank, rows_as_received(rank)).passed);
    EXPECT_TRUE(check_sampled_rows(rank, true_row(rank)).passed);
  });
}

TEST(RanksSpmm, PowersOfAMatrixThatIsNotSquareAreRefused) {
  EXPECT_THROW(with_ranks(integer_matrix(20, 30, 9), {2, 1}, 3,
                          [](SpmmRank& rank) {
                            fill_b(rank);
                            rank.multiply(2);
                          }),
               UsageError);
}

TEST(RanksSpmm, GridsAreReadAndColumnsSharedEvenly) {
  EXPECT_EQ(parse_grid("12x3").parts, 12);
  EXPECT_EQ(parse_grid("12x3").groups, 3);
  for (const char* text : {"", "x", "4", "4x", "x4", "0x4", "4x0", "4x-1", "4x2x1", "4 x2", "1e3x1",
                           "99999999999x1", "65536x65536", "5002x858650"}) {
    EXPECT_THROW(parse_grid(text), UsageError) << text;
  }
  for (const Index cols : {5, 16, 100}) {
    const Grid grid{3, 5};
    Index next = 0;
    for (int group = 0; group < grid.groups; ++group) {
      const ColumnRange range = columns_of_group(cols, grid, group);
      EXPECT_EQ(range.begin, next);
      EXPECT_LE(range.size(), (cols + 4) / 5);
      EXPECT_GE(range.size(), cols / 5);
      next = range.end;
    }
    EXPECT_EQ(next, cols);
  }
}

}  // namespace
}  // namespace csrkit::ranks
