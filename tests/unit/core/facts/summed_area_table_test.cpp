#include "core/facts/summed_area_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/base/error.h"

namespace csrkit {
namespace {

CsrMatrix random_pattern(Index rows, Index cols, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution is_there(share);
  std::vector<Offset> row_offsets{0};
  std::vector<Index> col_indices;
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      if (is_there(random)) col_indices.push_back(col);
    }
    row_offsets.push_back(static_cast<Offset>(col_indices.size()));
  }
  Buffer<Offset> offsets(static_cast<Offset>(row_offsets.size()));
  Buffer<Index> indices(static_cast<Offset>(col_indices.size()));
  std::copy(row_offsets.begin(), row_offsets.end(), offsets.data());
  std::copy(col_indices.begin(), col_indices.end(), indices.data());
  return CsrMatrix(rows, cols, std::move(offsets), std::move(indices), ValueArray());
}

Offset counted(const CsrMatrix& matrix, Index row, Index row_end, Index col, Index col_end) {
  Offset count = 0;
  for (Index i = row; i < row_end; ++i) {
    for (Offset at = matrix.row_offsets()[i]; at < matrix.row_offsets()[i + 1]; ++at) {
      const Index c = matrix.col_indices()[at];
      count += c >= col && c < col_end ? 1 : 0;
    }
  }
  return count;
}

TEST(SummedAreaTable, KnowsEveryRectangleOfCells) {
  const CsrMatrix matrix = random_pattern(37, 23, 0.2, 1);
  const SummedAreaTable table(matrix, 5, 7);
  EXPECT_EQ(table.total(), matrix.nnz());
  for (Index r = 0; r <= 5; ++r) {
    for (Index r_end = r; r_end <= 5; ++r_end) {
      for (Index c = 0; c <= 7; ++c) {
        for (Index c_end = c; c_end <= 7; ++c_end) {
          const Index row = table.row_begin(r), row_end = table.row_begin(r_end);
          const Index col = table.col_begin(c), col_end = table.col_begin(c_end);
          const Offset expected = counted(matrix, row, row_end, col, col_end);
          EXPECT_EQ(table.count(r, r_end, c, c_end), expected);
          EXPECT_EQ(count_nonzeros(matrix, row, row_end, col, col_end), expected);
        }
      }
    }
  }
}

TEST(SummedAreaTable, AGridAsFineAsTheMatrixIsTheMatrix) {
  const CsrMatrix matrix = random_pattern(9, 11, 0.3, 2);
  const SummedAreaTable table(matrix, 1000, 1000);
  ASSERT_EQ(table.grid_rows(), 9);
  ASSERT_EQ(table.grid_cols(), 11);
  for (Index row = 0; row < 9; ++row) {
    for (Index col = 0; col < 11; ++col) {
      EXPECT_EQ(table.count(row, col), counted(matrix, row, row + 1, col, col + 1));
    }
  }
}

TEST(SummedAreaTable, CellBordersAreExactForEveryColumn) {
  // One row with every column: cell g must hold the columns from col_begin(g) on, whatever the
  // sizes.
  for (const Index cols : {1, 2, 3, 7, 100, 1023, 1024, 99991}) {
    const CsrMatrix matrix = random_pattern(1, cols, 1, 3);
    for (const Index cells : {1, 2, 3, 10, 64, 1000}) {
      const SummedAreaTable table(matrix, 1, cells);
      for (Index g = 0; g < table.grid_cols(); ++g) {
        ASSERT_EQ(table.count(0, g), table.col_begin(g + 1) - table.col_begin(g)) << cols << cells;
      }
    }
  }
}

TEST(SummedAreaTable, EmptyMatricesAndWrongRectangles) {
  const CsrMatrix none = random_pattern(0, 0, 0, 4);
  EXPECT_EQ(SummedAreaTable(none, 4, 4).total(), 0);
  const CsrMatrix matrix = random_pattern(3, 4, 0.5, 5);
  EXPECT_EQ(count_nonzeros(matrix, 1, 1, 0, 4), 0);
  EXPECT_THROW(count_nonzeros(matrix, 0, 4, 0, 4), UsageError);
  EXPECT_THROW(count_nonzeros(matrix, 2, 1, 0, 4), UsageError);
  EXPECT_THROW(SummedAreaTable(matrix, 0, 4), UsageError);
}

TEST(SummedAreaTable, CutsAreBalanced) {
  const CsrMatrix even = random_pattern(60, 60, 0.5, 6);
  const SummedAreaTable table(even, 60, 60);
  const RectilinearCuts cuts = balanced_cuts(table, 3, 4);
  ASSERT_EQ(cuts.rows.size(), 4U);
  ASSERT_EQ(cuts.cols.size(), 5U);
  EXPECT_EQ(cuts.rows.back(), 60);
  EXPECT_EQ(cuts.cols.back(), 60);
  EXPECT_LT(cuts.imbalance, 1.25);
  Offset most = 0;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 4; ++c) {
      most = std::max(most,
                      table.count(cuts.rows[r], cuts.rows[r + 1], cuts.cols[c], cuts.cols[c + 1]));
    }
  }
  EXPECT_EQ(most, cuts.heaviest);
  EXPECT_EQ(balanced_cuts(table, 1, 1).heaviest, even.nnz());
  EXPECT_THROW(balanced_cuts(table, 61, 1), UsageError);
}

}  // namespace
}  // namespace csrkit
