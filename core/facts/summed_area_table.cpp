#include "core/facts/summed_area_table.h"

#include <algorithm>
#include <string>

#include "core/base/available_memory.h"
#include "core/base/counted.h"
#include "core/base/error.h"

namespace csrkit {

SummedAreaTable::SummedAreaTable(const CsrMatrix& matrix, Index grid_rows, Index grid_cols,
                                 const FillSums& fill_sums)
    : rows_(matrix.rows()), cols_(matrix.cols()) {
  if (grid_rows < 1 || grid_cols < 1) {
    throw UsageError("a grid needs at least one row and one column, found " +
                     std::to_string(grid_rows) + " x " + std::to_string(grid_cols));
  }
  grid_rows_ = std::min(grid_rows, std::max<Index>(rows_, 1));
  grid_cols_ = std::min(grid_cols, std::max<Index>(cols_, 1));
  const Offset width = static_cast<Offset>(grid_cols_) + 1;
  const Offset size = (static_cast<Offset>(grid_rows_) + 1) * width;
  require_available_memory(static_cast<std::uint64_t>(size) * sizeof(Offset),
                           "the summed-area table", "use a coarser grid");
  sums_ = Buffer<Offset>(size);
  fill_sums(matrix, *this, sums_.data());
}

void SummedAreaTable::sum_here(const CsrMatrix& matrix, const SummedAreaTable& grid, Offset* sums) {
  const Index grid_rows = grid.grid_rows();
  const Offset width = static_cast<Offset>(grid.grid_cols()) + 1;
  std::fill_n(sums, width, 0);

  // Rows: counts of a grid row, then their running sum. Grid rows are independent.
  const Offset* const row_offsets = matrix.row_offsets();
  const Index* const col_indices = matrix.col_indices();
  // floor(c * grid / cols) without a division: (c * grid + 1/2) / cols is at least 1 / (2 cols)
  // away from every integer, and its error in double is below grid * 2^-51, less than that up to
  // here.
  const std::int64_t cells = grid.grid_cols(), cols = grid.cols();
  const bool is_exact_in_double = cells * cols < (std::int64_t{1} << 50);
  const double inverse = cols > 0 ? 1.0 / static_cast<double>(cols) : 0;
  const auto cell_of = [=](std::int64_t col) {
    return is_exact_in_double
               ? static_cast<Offset>((static_cast<double>(col * cells) + 0.5) * inverse)
               : static_cast<Offset>(col * cells / cols);
  };
#pragma omp parallel for schedule(dynamic, 1)
  for (Index g = 0; g < grid_rows; ++g) {
    Offset* const line = sums + (static_cast<Offset>(g) + 1) * width;
    std::fill_n(line, width, 0);
    for (Offset at = row_offsets[grid.row_begin(g)]; at < row_offsets[grid.row_begin(g + 1)];
         ++at) {
      ++line[cell_of(col_indices[at]) + 1];
    }
    for (Offset i = 1; i < width; ++i) line[i] += line[i - 1];
  }
  // Columns: running sums downwards, a stripe of columns at a time so that lines stay whole.
  constexpr Offset kStripe = 512;
#pragma omp parallel for schedule(static)
  for (Offset stripe = 0; stripe < width; stripe += kStripe) {
    const Offset end = std::min(stripe + kStripe, width);
    for (Offset g = 1; g <= grid_rows; ++g) {
      for (Offset i = stripe; i < end; ++i) sums[g * width + i] += sums[(g - 1) * width + i];
    }
  }
}

Offset count_nonzeros(const CsrMatrix& matrix, Index row, Index row_end, Index col, Index col_end) {
  if (row < 0 || row > row_end || row_end > matrix.rows() || col < 0 || col > col_end ||
      col_end > matrix.cols()) {
    throw UsageError("the rectangle " + std::to_string(row) + ":" + std::to_string(row_end) + "," +
                     std::to_string(col) + ":" + std::to_string(col_end) +
                     " does not lie in a matrix of " + counted(matrix.rows(), "row") + " and " +
                     counted(matrix.cols(), "column"));
  }
  Offset sum = 0;
  const Index* const col_indices = matrix.col_indices();
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (Index i = row; i < row_end; ++i) {
    const Index* const begin = col_indices + matrix.row_offsets()[i];
    const Index* const end = col_indices + matrix.row_offsets()[i + 1];
    sum += std::lower_bound(begin, end, col_end) - std::lower_bound(begin, end, col);
  }
  return sum;
}

namespace {

/// One side of the table seen from the cuts of the other.
struct Side {
  const SummedAreaTable& table;
  const std::vector<Index>& other_cuts;
  bool is_rows;

  Index cells() const { return is_rows ? table.grid_rows() : table.grid_cols(); }

  /// Nonzeros of the fullest rectangle that the cells [begin, end) of this side make.
  Offset heaviest(Index begin, Index end) const {
    Offset most = 0;
    for (std::size_t part = 0; part + 1 < other_cuts.size(); ++part) {
      const Index from = other_cuts[part], to = other_cuts[part + 1];
      most = std::max(
          most, is_rows ? table.count(begin, end, from, to) : table.count(from, to, begin, end));
    }
    return most;
  }

  /// Cuts into at most `parts` pieces, none above `limit`; empty if that is impossible. Greedy:
  /// each piece is as long as it may be, and no other choice needs fewer pieces.
  std::vector<Index> cuts_within(Offset limit, Index parts) const {
    std::vector<Index> cuts{0};
    for (Index part = 0; part < parts; ++part) {
      const Index begin = cuts.back();
      Index low = begin, high = cells();  // the last end that is light enough
      while (low < high) {
        const Index middle = low + (high - low + 1) / 2;
        if (heaviest(begin, middle) <= limit) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      cuts.push_back(low);
    }
    return cuts.back() == cells() ? cuts : std::vector<Index>{};
  }

  std::vector<Index> best_cuts(Index parts) const {
    Offset low = 0, high = table.total();
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (cuts_within(middle, parts).empty()) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return cuts_within(high, parts);
  }
};

Offset heaviest_of(const SummedAreaTable& table, const RectilinearCuts& cuts) {
  const Side side{table, cuts.cols, true};
  Offset most = 0;
  for (std::size_t part = 0; part + 1 < cuts.rows.size(); ++part) {
    most = std::max(most, side.heaviest(cuts.rows[part], cuts.rows[part + 1]));
  }
  return most;
}

}  // namespace

RectilinearCuts balanced_cuts(const SummedAreaTable& table, Index row_parts, Index col_parts) {
  if (row_parts < 1 || col_parts < 1 || row_parts > table.grid_rows() ||
      col_parts > table.grid_cols()) {
    throw UsageError("a partition of " + std::to_string(row_parts) + " x " +
                     std::to_string(col_parts) + " parts needs a grid of at least as many cells; " +
                     "this one has " + std::to_string(table.grid_rows()) + " x " +
                     std::to_string(table.grid_cols()));
  }
  constexpr int kRounds = 10;  // it converges in a few; each can only improve
  RectilinearCuts best;
  best.cols = {0, table.grid_cols()};
  best.rows = Side{table, best.cols, true}.best_cuts(row_parts);
  best.cols = Side{table, best.rows, false}.best_cuts(col_parts);
  best.heaviest = heaviest_of(table, best);
  for (int round = 0; round < kRounds; ++round) {
    RectilinearCuts next = best;
    next.rows = Side{table, next.cols, true}.best_cuts(row_parts);
    next.cols = Side{table, next.rows, false}.best_cuts(col_parts);
    next.heaviest = heaviest_of(table, next);
    if (next.heaviest >= best.heaviest) break;
    best = next;
  }
  const double mean =
      static_cast<double>(table.total()) / (static_cast<double>(row_parts) * col_parts);
  best.imbalance = mean > 0 ? static_cast<double>(best.heaviest) / mean : 1;
  return best;
}

}  // namespace csrkit
