// Loops over the rows of n x columns arrays. Their sums have the same bits for any number of
// threads: rows are added up in blocks of a fixed size, and the blocks in their order.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/base/team.h"
#include "core/base/types.h"
#include "cpu/common/resident_team.h"

namespace csrkit::cpu {

/// Rows of a block: 8 to 16 KiB of each vector, so that a block stays in L1 while several columns
/// or sums pass over it.
inline constexpr Index kBlockRows = 1024;

/// A row range of one column: element i of it is at offset(i).
template <class Stride>
struct ColumnRange {
  Index first, last, column;
  Stride stride;
  Offset offset(Index row) const { return Offset{row} * stride + column; }
};

/// The sum of term(row) over a range, in four chains of vectors: a single chain would wait for each
/// addition. term() may write to its row.
template <class Range, class Term>
double sum_in_chains(const Range& range, const Term& term) {
  const Index part = (range.last - range.first) / 4;
  double a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
  for (Index row = range.first; row < range.first + part; ++row) {
    a += term(row);
    b += term(row + part);
    c += term(row + 2 * part);
    d += term(row + 3 * part);
  }
  for (Index row = range.first + 4 * part; row < range.last; ++row) a += term(row);
  return (a + b) + (c + d);
}

class VectorLoops {
 public:
  VectorLoops(Index rows, Index columns, int threads)
      : rows_(rows),
        columns_(columns),
        blocks_(static_cast<Index>((Offset{rows} + kBlockRows - 1) / kBlockRows)),
        threads_(team_for(Offset{rows} * columns, threads)) {}

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  /// Calls body(range) for every block and column.
  template <class Body>
  void each(const Body& body) {
    sums<0>([&](const auto& range, double*) { body(range); });
  }

  /// Calls body(range, sums), which adds what belongs to the range to its `kSums` numbers. The
  /// result has kSums numbers per column, column by column.
  template <int kSums, class Body>
  std::vector<double> sums(const Body& body) {
    const auto per_block = static_cast<std::size_t>(columns_) * kSums;
    partials_.assign(static_cast<std::size_t>(blocks_) * per_block, 0);
    const auto run = [&](auto stride) {
      in_team(threads_, [&](int thread, int threads) {
        const Index end = begin_of_share(blocks_, thread + 1, threads);
        for (Index block = begin_of_share(blocks_, thread, threads); block < end; ++block) {
          const Index first = block * kBlockRows;
          const Index last =
              static_cast<Index>(std::min<Offset>(Offset{first} + kBlockRows, rows_));
          double* const sums = partials_.data() + static_cast<std::size_t>(block) * per_block;
          for (Index column = 0; column < columns_; ++column) {
            body(ColumnRange<decltype(stride)>{first, last, column, stride}, sums + column * kSums);
          }
        }
      });
    };
    // A stride that the compiler knows makes vector instructions of the usual case.
    if (columns_ == 1) {
      run(std::integral_constant<Index, 1>{});
    } else {
      run(columns_);
    }
    std::vector<double> totals(per_block, 0);
    for (Index block = 0; block < blocks_; ++block) {
      for (std::size_t k = 0; k < per_block; ++k) {
        totals[k] += partials_[static_cast<std::size_t>(block) * per_block + k];
      }
    }
    return totals;
  }

 private:
  Index rows_, columns_, blocks_;
  int threads_;
  std::vector<double> partials_;
};

}  // namespace csrkit::cpu
