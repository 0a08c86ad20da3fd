#include "core/facts/matrix_stats.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <vector>

namespace csrkit {
namespace {

/// From one list of columns per row; values 1, 2, 3, ... in storage order.
CsrMatrix matrix_of(Index cols, const std::vector<std::vector<Index>>& rows) {
  Buffer<Offset> row_offsets(static_cast<Offset>(rows.size()) + 1);
  row_offsets[0] = 0;
  std::vector<Index> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.insert(all.end(), rows[i].begin(), rows[i].end());
    row_offsets[static_cast<Offset>(i) + 1] = static_cast<Offset>(all.size());
  }
  const auto nnz = static_cast<Offset>(all.size());
  Buffer<double> values(nnz);
  for (Offset at = 0; at < nnz; ++at) values[at] = static_cast<double>(at + 1);
  return CsrMatrix(static_cast<Index>(rows.size()), cols, std::move(row_offsets),
                   Buffer<Index>::copy_of(all.data(), nnz), ValueArray::from(std::move(values)));
}

TEST(RowLengthProfile, ByHand) {
  // Lengths 0, 1, 2, 5.
  const RowLengthProfile p = row_length_profile(matrix_of(6, {{}, {0}, {1, 2}, {0, 1, 2, 3, 5}}));
  EXPECT_EQ(p.shortest, 0);
  EXPECT_EQ(p.longest, 5);
  EXPECT_EQ(p.longest_row, 3);
  EXPECT_DOUBLE_EQ(p.mean, 2);
  EXPECT_DOUBLE_EQ(p.standard_deviation, std::sqrt((4 + 1 + 0 + 9) / 4.0));
  EXPECT_EQ(p.empty_rows, 1);
  EXPECT_EQ(p.p25, 0);     // rank 1 of 4
  EXPECT_EQ(p.median, 1);  // rank 2
  EXPECT_EQ(p.p75, 2);     // rank 3
  EXPECT_EQ(p.p90, 5);     // rank 4
  EXPECT_EQ(p.p99, 5);
  EXPECT_EQ(p.rows_by_log2, (std::vector<Index>{1, 1, 1, 1}));  // 0 | 1 | 2-3 | 4-7
}

TEST(RowLengthProfile, LongRowsAndTies) {
  std::vector<Index> longer(20000);
  for (std::size_t j = 0; j < longer.size(); ++j) longer[j] = static_cast<Index>(j);
  const RowLengthProfile p =
      row_length_profile(matrix_of(20000, {{1}, longer, {1}, longer, longer}));
  EXPECT_EQ(p.longest, 20000);
  EXPECT_EQ(p.longest_row, 1);  // the first of the longest
  EXPECT_EQ(p.p25, 1);
  EXPECT_EQ(p.median, 20000);
  EXPECT_EQ(p.rows_by_log2.size(), 16u);  // 2^14 <= 20000 < 2^15
  EXPECT_EQ(p.rows_by_log2[1], 2);
  EXPECT_EQ(p.rows_by_log2[15], 3);
}

TEST(RowLengthProfile, NothingAtAll) {
  EXPECT_EQ(row_length_profile(CsrMatrix()).longest, 0);
  const RowLengthProfile p = row_length_profile(matrix_of(3, {{}, {}}));
  EXPECT_EQ(p.empty_rows, 2);
  EXPECT_EQ(p.p99, 0);
  EXPECT_EQ(p.rows_by_log2, (std::vector<Index>{2}));
}

TEST(SymmetryProfile, PatternAndValues) {
  const CsrMatrix pattern_only = matrix_of(3, {{0, 1}, {0, 2}, {1}});  // values 1 2 / 3 4 / 5
  SymmetryProfile p = symmetry_profile(pattern_only);
  EXPECT_TRUE(p.is_square);
  EXPECT_TRUE(p.is_pattern_symmetric);
  EXPECT_FALSE(p.is_value_symmetric);
  EXPECT_DOUBLE_EQ(p.pattern_share, 1);
  EXPECT_EQ(p.diagonal_entries, 1);
  p = symmetry_profile(convert_values(pattern_only, ValueKind::none));
  EXPECT_TRUE(p.is_value_symmetric);
}

TEST(SymmetryProfile, ShareOfMirroredEntries) {
  // (0,1) and (1,0) mirror each other; (0,2) and (2,1) do not; (2,2) is on the diagonal.
  const SymmetryProfile p = symmetry_profile(matrix_of(3, {{1, 2}, {0}, {1, 2}}));
  EXPECT_FALSE(p.is_pattern_symmetric);
  EXPECT_DOUBLE_EQ(p.pattern_share, 0.5);
  EXPECT_EQ(p.diagonal_entries, 1);
}

TEST(SymmetryProfile, RectangularAndDiagonal) {
  SymmetryProfile p = symmetry_profile(matrix_of(4, {{0, 3}, {1}}));
  EXPECT_FALSE(p.is_square);
  EXPECT_FALSE(p.is_pattern_symmetric);
  EXPECT_EQ(p.diagonal_entries, 2);
  p = symmetry_profile(matrix_of(2, {{0}, {1}}));
  EXPECT_TRUE(p.is_value_symmetric);
  EXPECT_DOUBLE_EQ(p.pattern_share, 1);
}

TEST(MatrixStats, SameForEveryThreadCount) {
  std::vector<std::vector<Index>> rows(9000);
  for (Index i = 0; i < 9000; ++i) {
    for (Index j = i % 7; j < 40; j += 1 + i % 11) rows[static_cast<std::size_t>(i)].push_back(j);
  }
  const CsrMatrix matrix = matrix_of(9000, rows);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const MatrixStats one = matrix_stats(matrix);
  omp_set_num_threads(5);
  const MatrixStats five = matrix_stats(matrix);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.row_lengths.standard_deviation, five.row_lengths.standard_deviation);
  EXPECT_EQ(one.row_lengths.rows_by_log2, five.row_lengths.rows_by_log2);
  EXPECT_EQ(one.locality.mean_distance, five.locality.mean_distance);
  EXPECT_EQ(one.locality.entries_per_touched_tile, five.locality.entries_per_touched_tile);
  EXPECT_EQ(one.symmetry.pattern_share, five.symmetry.pattern_share);
  EXPECT_EQ(one.empty_cols, five.empty_cols);
  EXPECT_EQ(one.empty_cols, 8960);
}

TEST(SpmmCost, ByHand) {
  // 3 nonzeros, 2 x 4, f64; 10 dense columns.
  const SpmmProblem problem = default_spmm_problem(matrix_of(4, {{0, 3}, {0}}), 10);
  const SpmmCost cost = spmm_cost(problem);
  const double a_bytes = 3 * 8 + 3 * (4 + 8), row_bytes = 10 * 8;
  EXPECT_EQ(cost.flops, 2 * 3 * 10);
  EXPECT_EQ(cost.gather_bytes, a_bytes + 3 * row_bytes + 2 * row_bytes);
  EXPECT_EQ(cost.minimum_bytes, a_bytes + 4 * row_bytes + 2 * row_bytes);
  SpmmProblem transposed = problem;
  transposed.transpose_a = true;
  EXPECT_EQ(spmm_cost(transposed).minimum_bytes, a_bytes + 2 * row_bytes + 4 * row_bytes);
}

TEST(SddmmCost, ByHand) {
  // 3 nonzeros, 2 x 4, f64; 10 dense columns.
  SddmmProblem problem = default_sddmm_problem(matrix_of(4, {{0, 3}, {0}}), 10);
  const double row_bytes = 10 * 8, once = 3 * 8 + 3 * 4 + 2 * row_bytes + 3 * 8;
  EXPECT_EQ(sddmm_cost(problem).flops, 2 * 3 * 10);
  EXPECT_EQ(sddmm_cost(problem).gather_bytes, once + 3 * row_bytes);
  EXPECT_EQ(sddmm_cost(problem).minimum_bytes, once + 4 * row_bytes);
  problem.multiplies_by_a = true;
  EXPECT_EQ(sddmm_cost(problem).minimum_bytes, once + 3 * 8 + 4 * row_bytes);
}

}  // namespace
}  // namespace csrkit
