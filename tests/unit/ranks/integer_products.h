// Products of small integers on ranks, exact in every order of summation; of ranks of any kind.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/hash.h"
#include "core/file/rank_sections.h"
#include "ranks/spmm_check.h"
#include "ranks/thread_ranks.h"
#include "tests/unit/core/part_samples.h"

namespace csrkit::ranks::testing {

/// Small integers, so that every order of summation gives the same numbers. Some rows are empty,
/// one is full, and some columns are in no row.
inline CsrMatrix integer_matrix(Index rows, Index cols, std::uint64_t seed) {
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

inline double b_at(Index row, Index col) {
  return static_cast<double>((row * 5 + col * 3) % 9 - 4);
}

inline std::vector<double> product(const CsrMatrix& a, const std::vector<double>& b,
                                   Index dense_cols) {
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

inline std::vector<double> dense_b(Index rows, Index dense_cols) {
  std::vector<double> b;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < dense_cols; ++j) b.push_back(b_at(i, j));
  }
  return b;
}

inline RankPart part_of(const CsrMatrix& a, const RankSections& sections, Index part,
                        PartColumns columns = PartColumns::local) {
  return part_of_matrix(a, sections.lists(0, part), "test", 1, columns);
}

inline void fill_b(SpmmRank& rank) {
  const DenseView b = rank.b();
  for (Index i = 0; i < b.rows; ++i) {
    for (Index j = 0; j < b.cols; ++j) {
      b.set(i, j, b_at(rank.head().col_begin + i, rank.columns().begin + j));
    }
  }
  rank.bring_b();
}

inline RowOfB true_row(const SpmmRank& rank) {
  return [&rank](Index row, DenseView to) {
    for (Index j = 0; j < to.cols; ++j) to.set(0, j, b_at(row, rank.columns().begin + j));
  };
}

/// One row of a, as a matrix.
inline CsrMatrix row_of(const CsrMatrix& a, Index row) {
  const Offset first = a.row_offsets()[row], count = a.row_length(row);
  Buffer<Offset> offsets(2);
  offsets[0] = 0;
  offsets[1] = count;
  const auto size = static_cast<std::size_t>(size_of(a.value_kind()));
  ValueArray values(a.value_kind(), count);
  if (size > 0 && count > 0) {  // else there may be no array
    std::memcpy(values.data(),
                static_cast<const char*>(a.values()) + static_cast<std::size_t>(first) * size,
                static_cast<std::size_t>(count) * size);
  }
  return CsrMatrix(1, a.cols(), std::move(offsets),
                   Buffer<Index>::copy_of(a.col_indices() + first, count), std::move(values));
}

/// Makes a rank of the kind that is tested.
using MakeRank = std::function<std::unique_ptr<SpmmRank>(
    Communicator& communicator, const Grid& grid, RankPart part, const SpmmProblem& problem)>;

inline void expect_c(const SpmmRank& rank, const std::vector<double>& expected, Index dense_cols) {
  const ConstDenseView c = rank.c();
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.cols; ++j) {
      const Offset at = Offset{rank.head().row_begin + i} * dense_cols + rank.columns().begin + j;
      ASSERT_EQ(c.at(i, j), expected[static_cast<std::size_t>(at)])
          << "row " << rank.head().row_begin + i << ", column " << rank.columns().begin + j;
    }
  }
}

/// Ranks that get all of B, whatever they need of it.
inline void expect_all_gather_product(const MakeRank& make_rank, const CsrMatrix& a,
                                      const Grid& grid, Index dense_cols) {
  const std::vector<double> expected = product(a, dense_b(a.cols(), dense_cols), dense_cols);
  const RankSections sections =
      RankSections::of(a, plain_blocks(a, std::vector<Index>{grid.parts}));
  run_as_threads(grid.size(), [&](Communicator& communicator) {
    const int part = grid.part_of(communicator.rank());
    const std::unique_ptr<SpmmRank> rank = make_rank(communicator, grid, part_of(a, sections, part),
                                                     default_spmm_problem(a, dense_cols));
    rank->connect();
    fill_b(*rank);
    rank->multiply(1);
    rank->fetch();
    expect_c(*rank, expected, dense_cols);
    const auto others = static_cast<std::uint64_t>(a.cols() - rank->head().own_cols());
    EXPECT_EQ(rank->bytes_received(),
              others * static_cast<std::uint64_t>(rank->columns().size()) * sizeof(float));
    communicator.barrier();  // others may still read what this rank holds
  });
}

/// Every element of every rank's C, and that the bytes are those that the heads promise.
inline void expect_product(const MakeRank& make_rank, const CsrMatrix& a, const Grid& grid,
                           Index dense_cols, int power = 1,
                           const std::optional<PartBorders>& borders = std::nullopt,
                           const std::vector<Index>& split = {},
                           PartColumns columns = PartColumns::local) {
  SCOPED_TRACE(text_of(grid) + ", K = " + std::to_string(dense_cols));
  std::vector<double> expected = dense_b(a.cols(), dense_cols);
  const bool has_powers = a.rows() == a.cols();  // ranks refuse powers of others
  for (int step = 0; step < (has_powers ? power : 1); ++step) {
    expected = product(a, expected, dense_cols);
  }
  const RankSections sections =
      RankSections::of(a,
                       borders ? std::vector<PartBorders>{*borders}
                               : plain_blocks(a, std::vector<Index>{grid.parts}, split),
                       0, {}, split);
  const SpmmProblem problem = default_spmm_problem(a, dense_cols);
  run_as_threads(grid.size(), [&](Communicator& communicator) {
    const int part = grid.part_of(communicator.rank());
    const std::unique_ptr<SpmmRank> made =
        make_rank(communicator, grid, part_of(a, sections, part, columns), problem);
    SpmmRank& rank = *made;
    rank.connect();
    fill_b(rank);
    rank.multiply(power);
    rank.fetch();
    const auto row_bytes = static_cast<std::uint64_t>(rank.columns().size()) * sizeof(float);
    const Offset received = rank.head().halo_cols + rank.head().sums_received;
    const Offset sent = rank.head().send_cols + rank.head().sums_sent;
    EXPECT_EQ(rank.bytes_received(), static_cast<std::uint64_t>(received) * row_bytes);
    EXPECT_EQ(rank.bytes_sent(), static_cast<std::uint64_t>(sent) * row_bytes);
    expect_c(rank, expected, dense_cols);
    if (power == 1) {
      const CheckResult check =
          check_sampled_rows(rank, true_row(rank), [&](Index row) { return row_of(a, row); });
      EXPECT_TRUE(check.passed) << check.failure;
      EXPECT_EQ(check.rows_checked > 0, rank.c().rows > 0);
    }
    EXPECT_TRUE(check_sampled_rows(rank, rows_as_received(rank)).passed);
    communicator.barrier();  // others may still read what this rank holds
  });
}

/// Rows are split, and B has another kind than C, in which their sums travel.
inline void expect_sums_of_the_kind_of_c(const MakeRank& make_rank, ValueKind a_kind,
                                         ValueKind b_kind,
                                         PartColumns columns = PartColumns::local) {
  SCOPED_TRACE(std::string(name_of(a_kind)) + " times " + name_of(b_kind));
  const CsrMatrix whole = integer_matrix(60, 60, 9), a = convert_values(whole, a_kind, 1);
  const std::vector<Index> split = {29, 30, 31};
  const RankSections sections = RankSections::of(a, plain_blocks(a, {4}, split), 0, {}, split);
  const std::vector<double> expected = product(whole, dense_b(60, 3), 3);
  SpmmProblem problem = default_spmm_problem(a, 3);
  set_dense_kind(&problem, b_kind);
  run_as_threads(4, [&](Communicator& communicator) {
    const auto rank = make_rank(communicator, {4, 1},
                                part_of(a, sections, communicator.rank(), columns), problem);
    rank->connect();
    fill_b(*rank);
    rank->multiply(1);
    rank->fetch();
    expect_c(*rank, expected, 3);
    const auto bytes = 3 * (static_cast<std::uint64_t>(rank->head().halo_cols) *
                                static_cast<std::uint64_t>(size_of(problem.b)) +
                            static_cast<std::uint64_t>(rank->head().sums_received) *
                                static_cast<std::uint64_t>(size_of(problem.c)));
    EXPECT_EQ(rank->bytes_received(), bytes);
    communicator.barrier();  // others may still read what this rank holds
  });
}

}  // namespace csrkit::ranks::testing
