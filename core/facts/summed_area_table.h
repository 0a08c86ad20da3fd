// How many nonzeros lie in a rectangle, in constant time: a table of counts, summed along rows and
// columns (F. Crow, Summed-area tables for texture mapping, SIGGRAPH 1984).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/buffer.h"
#include "core/matrix/csr_matrix.h"

namespace csrkit {

/// A grid of cells over a matrix: cell g of `cells` along a side of `size` holds the indices i with
/// floor(i * cells / size) == g, so cells differ by at most one row or column.
class SummedAreaTable {
 public:
  /// Counts every nonzero once and sums, in parallel; exact in 64 bits. A grid finer than the
  /// matrix becomes the matrix itself, cell by cell. Throws UsageError unless both numbers are at
  /// least 1, MemoryError with both numbers if the table does not fit.
  SummedAreaTable(const CsrMatrix& matrix, Index grid_rows, Index grid_cols)
      : SummedAreaTable(matrix, grid_rows, grid_cols, sum_here) {}

  /// Fills the (grid_rows + 1) x (grid_cols + 1) sums of `grid`: the first row and column with
  /// zeros, element (i, j) with the nonzeros in the grid rows before i and the grid columns before
  /// j.
  using FillSums =
      std::function<void(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums)>;
  /// The same with sums made elsewhere: on a GPU.
  SummedAreaTable(const CsrMatrix& matrix, Index grid_rows, Index grid_cols,
                  const FillSums& fill_sums);

  Index grid_rows() const { return grid_rows_; }
  Index grid_cols() const { return grid_cols_; }
  /// The first row of the matrix in grid row `g`; rows() for g == grid_rows().
  Index row_begin(Index g) const { return begin_of(g, grid_rows_, rows_); }
  Index col_begin(Index g) const { return begin_of(g, grid_cols_, cols_); }
  Index cols() const { return cols_; }

  /// Nonzeros in grid rows [row, row_end) and grid columns [col, col_end): four reads.
  Offset count(Index row, Index row_end, Index col, Index col_end) const {
    return at(row_end, col_end) - at(row, col_end) - at(row_end, col) + at(row, col);
  }
  Offset count(Index row, Index col) const { return count(row, row + 1, col, col + 1); }
  Offset total() const { return at(grid_rows_, grid_cols_); }

  /// All (grid_rows + 1) x (grid_cols + 1) sums, row by row.
  const Offset* sums() const { return sums_.data(); }

 private:
  static void sum_here(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums);
  static Index begin_of(Index g, Index cells, Index size) {
    return static_cast<Index>((static_cast<std::int64_t>(g) * size + cells - 1) / cells);
  }
  Offset at(Index row, Index col) const {
    return sums_[static_cast<Offset>(row) * (grid_cols_ + 1) + col];
  }

  Index rows_, cols_, grid_rows_, grid_cols_;
  Buffer<Offset> sums_;  // (grid_rows + 1) x (grid_cols + 1): of all cells above and to the left
};

/// Nonzeros of any rectangle of the matrix itself, by binary search in each of its rows. Throws
/// UsageError for a rectangle that does not lie in the matrix.
Offset count_nonzeros(const CsrMatrix& matrix, Index row, Index row_end, Index col, Index col_end);

/// Cuts into rectangles by one set of rows and one of columns, in cells of the table.
struct RectilinearCuts {
  std::vector<Index> rows;  // parts + 1, from 0 to grid_rows
  std::vector<Index> cols;
  Offset heaviest = 0;   // nonzeros of the fullest rectangle
  double imbalance = 1;  // heaviest / mean; 1 is perfect
};

/// Cuts for a grid of processors. Rows and columns are improved in turn, each by bisection for
/// fixed cuts of the other, until the fullest rectangle gets no smaller (D. Nicol, Rectilinear
/// partitioning of irregular data parallel computations, J. Parallel Distrib. Comput. 23, 1994).
/// Throws UsageError unless 1 <= parts <= cells on both sides.
RectilinearCuts balanced_cuts(const SummedAreaTable& table, Index row_parts, Index col_parts);

}  // namespace csrkit
