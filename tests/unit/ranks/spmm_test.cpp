#include "ranks/spmm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/hash.h"
#include "core/file/rank_sections.h"
#include "cpu/common/kernels.h"
#include "ranks/spmm_check.h"
#include "ranks/thread_ranks.h"

namespace csrkit::ranks {
namespace {

/// Small integers, so that every order of summation gives the same numbers. Some rows are empty,
/// one is full, and some columns are in no row.
CsrMatrix integer_matrix(Index rows, Index cols, std::uint64_t seed) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  std::vector<float> numbers;
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    const bool is_empty = i % 7 == 3, is_full = i == rows / 2;
    for (Index j = 0; j < cols && !is_empty; ++j) {
      const std::uint64_t word = random_word(seed, row, static_cast<std::uint64_t>(j));
      if (!is_full && (word % 11 != 0 || j % 13 == 5)) continue;
      columns.push_back(j);
      numbers.push_back(static_cast<float>(static_cast<int>(word >> 8) % 4 + 1));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const auto count = static_cast<Offset>(columns.size());
  return CsrMatrix(rows, cols, Buffer<Offset>::copy_of(offsets.data(), Offset{rows} + 1),
                   Buffer<Index>::copy_of(columns.data(), count),
                   ValueArray::from(Buffer<float>::copy_of(numbers.data(), count)));
}

double b_at(Index row, Index col) { return static_cast<double>((row * 5 + col * 3) % 9 - 4); }

std::vector<double> product(const CsrMatrix& a, const std::vector<double>& b, Index dense_cols) {
  std::vector<double> c(static_cast<std::size_t>(a.rows()) * static_cast<std::size_t>(dense_cols));
  const auto view = a.view<float>();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Offset at = view.row_offsets[i]; at < view.row_offsets[i + 1]; ++at) {
      for (Index j = 0; j < dense_cols; ++j) {
        c[static_cast<std::size_t>(Offset{i} * dense_cols + j)] +=
            static_cast<double>(view.values[at]) *
            b[static_cast<std::size_t>(Offset{view.col_indices[at]} * dense_cols + j)];
      }
    }
  }
  return c;
}

std::vector<double> dense_b(Index rows, Index dense_cols) {
  std::vector<double> b;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < dense_cols; ++j) b.push_back(b_at(i, j));
  }
  return b;
}

RankPart part_of(const CsrMatrix& a, const RankSections& sections, Index part) {
  PartLists lists = sections.lists(0, part);
  const PartRows rows = rows_of_part(a, lists.head);
  return split_part(rows, std::move(lists), a.cols(), "test");
}

void fill_b(SpmmRank& rank) {
  const DenseView b = rank.b();
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) {
      b.set(i, j, b_at(rank.head().col_begin + i, rank.columns().begin + j));
    }
  }
}

RowOfB true_row(const SpmmRank& rank) {
  return [&rank](Index row, DenseView to) {
    for (Index j = 0; j < to.cols; ++j) to.set(0, j, b_at(row, rank.columns().begin + j));
  };
}

/// Every element of every rank's C, and that the bytes are those that the heads promise.
void expect_product(const CsrMatrix& a, const Grid& grid, Index dense_cols, int power = 1,
                    const std::optional<PartBorders>& borders = std::nullopt) {
  SCOPED_TRACE(text_of(grid) + ", K = " + std::to_string(dense_cols));
  std::vector<double> expected = dense_b(a.cols(), dense_cols);
  for (int step = 0; step < power; ++step) expected = product(a, expected, dense_cols);
  const RankSections sections =
      RankSections::of(a, borders ? std::vector<PartBorders>{*borders}
                                  : plain_blocks(a, std::vector<Index>{grid.parts}));
  const SpmmProblem kinds = default_spmm_problem(a, dense_cols);
  const auto& kernel = find_kernel(cpu::spmm_kernels(), "auto");
  run_as_threads(grid.size(), [&](Communicator& communicator) {
    PlanOptions options;
    options.where.threads = 1;
    const int part = grid.part_of(communicator.rank());
    SpmmRank rank(communicator, grid, part_of(a, sections, part), dense_cols, kinds, kernel,
                  options);
    const auto row_bytes = static_cast<std::uint64_t>(rank.columns().size()) * sizeof(float);
    EXPECT_EQ(rank.bytes_received(), static_cast<std::uint64_t>(rank.head().halo_cols) * row_bytes);
    EXPECT_EQ(rank.bytes_sent(), static_cast<std::uint64_t>(rank.head().send_cols) * row_bytes);
    fill_b(rank);
    for (int step = 0; step < power; ++step) {
      if (step > 0) rank.take_c_as_b();
      rank.multiply();
    }
    const ConstDenseView c = rank.c();
    for (Index i = 0; i < c.rows; ++i) {
      for (Index j = 0; j < c.cols; ++j) {
        const Offset at = Offset{rank.head().row_begin + i} * dense_cols + rank.columns().begin + j;
        ASSERT_EQ(c.at(i, j), expected[static_cast<std::size_t>(at)])
            << "row " << rank.head().row_begin + i << ", column " << rank.columns().begin + j;
      }
    }
    if (power == 1) {
      const CheckResult check = check_sampled_rows(rank, true_row(rank));
      EXPECT_TRUE(check.passed) << check.failure;
      EXPECT_EQ(check.rows_checked > 0, c.rows > 0);
    }
    EXPECT_TRUE(check_sampled_rows(rank, rows_as_received(rank)).passed);
  });
}

TEST(RanksSpmm, RowPartsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(150, 150, 1);
  for (const int parts : {1, 2, 3, 4, 8, 16, 32, 64}) expect_product(a, {parts, 1}, 5);
}

TEST(RanksSpmm, GridsGiveTheExactProduct) {
  const CsrMatrix a = integer_matrix(90, 90, 2);
  for (const Grid& grid : {Grid{1, 2}, Grid{1, 7}, Grid{2, 2}, Grid{3, 4}, Grid{8, 2}}) {
    expect_product(a, grid, 7);
    expect_product(a, grid, 32);
  }
}

TEST(RanksSpmm, RectangularMatricesToo) {
  for (const int parts : {2, 5, 16}) {
    expect_product(integer_matrix(40, 170, 3), {parts, 1}, 4);
    expect_product(integer_matrix(170, 40, 4), {parts, 2}, 4);
  }
}

TEST(RanksSpmm, PartsMayBeEmpty) {
  const PartBorders borders{{0, 0, 2, 2, 5, 5}, {0, 0, 2, 2, 5, 5}};
  expect_product(integer_matrix(5, 5, 5), {5, 1}, 3, 1, borders);
  expect_product(integer_matrix(5, 5, 5), {5, 2}, 3, 2, borders);
}

TEST(RanksSpmm, PowersKeepTheirOperandsInPlace) {
  const CsrMatrix a = integer_matrix(30, 30, 6);
  expect_product(a, {4, 1}, 3, 2);
  expect_product(a, {2, 2}, 3, 3);
}

void with_ranks(const CsrMatrix& a, const Grid& grid, Index dense_cols,
                const std::function<void(SpmmRank&)>& use) {
  const RankSections sections =
      RankSections::of(a, plain_blocks(a, std::vector<Index>{grid.parts}));
  run_as_threads(grid.size(), [&](Communicator& communicator) {
    PlanOptions options;
    options.where.threads = 1;
    SpmmRank rank(communicator, grid, part_of(a, sections, grid.part_of(communicator.rank())),
                  dense_cols, default_spmm_problem(a, dense_cols),
                  find_kernel(cpu::spmm_kernels(), "auto"), options);
    use(rank);
  });
}

TEST(RanksSpmm, WhatIsInCBeforeDoesNotMatter) {
  with_ranks(integer_matrix(60, 60, 7), {4, 1}, 3, [](SpmmRank& rank) {
    fill_b(rank);
    const ConstDenseView c = rank.c();
    auto* const numbers = const_cast<float*>(c.as<float>());
    std::fill_n(numbers, Offset{c.rows} * c.cols, std::numeric_limits<float>::quiet_NaN());
    rank.multiply();
    for (Offset at = 0; at < Offset{c.rows} * c.cols; ++at) ASSERT_FALSE(std::isnan(numbers[at]));
  });
}

/// The check must notice a wrong element, and a row of B that arrived in another's place.
TEST(RanksSpmm, TheCheckNoticesWhatIsWrong) {
  with_ranks(integer_matrix(60, 60, 8), {2, 1}, 3, [](SpmmRank& rank) {
    fill_b(rank);
    rank.multiply();
    EXPECT_TRUE(check_sampled_rows(rank, true_row(rank)).passed);
    auto* const numbers = const_cast<float*>(rank.c().as<float>());
    numbers[0] += 1;
    const CheckResult wrong = check_sampled_rows(rank, true_row(rank));
    EXPECT_FALSE(wrong.passed);
    EXPECT_NE(wrong.failure.find("expected"), std::string::npos) << wrong.failure;
    numbers[0] -= 1;
    ASSERT_GT(rank.head().halo_cols, 0);
    auto* const halo = const_cast<float*>(rank.halo().as<float>());
    halo[0] += 1;
    EXPECT_FALSE(check_sampled_rows(rank, rows_as_received(rank)).passed);
    EXPECT_TRUE(check_sampled_rows(rank, true_row(rank)).passed);
  });
}

TEST(RanksSpmm, PowersOfAMatrixThatIsNotSquareAreRefused) {
  EXPECT_THROW(with_ranks(integer_matrix(20, 30, 9), {2, 1}, 3,
                          [](SpmmRank& rank) {
                            fill_b(rank);
                            rank.multiply();
                            rank.take_c_as_b();
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
