#include "preprocess/reorder/snowball.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/hash.h"

namespace csrkit::reorder {

namespace {

constexpr Offset kBallEntries = 250'000;  // large against a community, small against a sample

/// The first length of rows that are not followed.
Offset long_row_of(const CsrMatrix& matrix) {
  return std::max<Offset>(16, 16 * matrix.nnz() / std::max<Index>(matrix.rows(), 1));
}

/// Which rows belong to the sample. `rows_of_col` leads from columns back to rows; null where they
/// are the same vertices.
class Balls {
 public:
  Balls(const CsrMatrix& matrix, const CsrMatrix* rows_of_col)
      : matrix_(matrix),
        rows_of_col_(rows_of_col),
        long_row_(long_row_of(matrix)),
        long_col_(rows_of_col == nullptr ? 0 : long_row_of(*rows_of_col)),
        is_taken_(static_cast<std::size_t>(matrix.rows())),
        links_(static_cast<std::size_t>(matrix.rows())) {}

  std::vector<bool> grow(Offset entries, std::uint64_t seed) {
    RandomStream random(seed);
    const Offset balls = std::max<Offset>(2, entries / kBallEntries);
    for (Offset ball = 1; taken_ < entries && ball <= 64 * balls; ++ball) {
      const Offset enough = std::min(entries, std::max(taken_, entries / balls * ball + balls));
      next_ = {};
      // A random entry, not a random row: the sample is one of reads.
      const auto entry =
          static_cast<Offset>(random.below(static_cast<std::uint64_t>(matrix_.nnz())));
      const Offset* const after =
          std::upper_bound(matrix_.row_offsets(), matrix_.row_offsets() + matrix_.rows(), entry);
      take(static_cast<Index>(after - matrix_.row_offsets() - 1));
      while (taken_ < enough && !next_.empty()) {
        const Index row = next_.top().second;
        next_.pop();
        take(row);
      }
    }
    return std::move(is_taken_);
  }

 private:
  void take(Index row) {
    if (is_taken_[static_cast<std::size_t>(row)]) return;
    is_taken_[static_cast<std::size_t>(row)] = true;
    taken_ += std::min(matrix_.row_length(row), long_row_);
    if (matrix_.row_length(row) >= long_row_) return;
    for (Offset at = matrix_.row_offsets()[row]; at < matrix_.row_offsets()[row + 1]; ++at) {
      const Index col = matrix_.col_indices()[at];
      if (rows_of_col_ == nullptr) {
        link(col);
      } else if (rows_of_col_->row_length(col) < long_col_) {
        for (Offset back = rows_of_col_->row_offsets()[col];
             back < rows_of_col_->row_offsets()[col + 1]; ++back) {
          link(rows_of_col_->col_indices()[back]);
        }
      }
    }
  }

  /// One more entry of the ball leads to `row`. Outdated elements stay in the queue: the newest one
  /// of a row comes before them.
  void link(Index row) {
    if (is_taken_[static_cast<std::size_t>(row)]) return;
    const float links = ++links_[static_cast<std::size_t>(row)];
    next_.emplace(links / static_cast<float>(1 + matrix_.row_length(row)), row);
  }

  const CsrMatrix& matrix_;
  const CsrMatrix* rows_of_col_;
  Offset long_row_, long_col_;
  std::vector<bool> is_taken_;
  std::vector<float> links_;
  std::priority_queue<std::pair<float, Index>> next_;
  Offset taken_ = 0;
};

/// The rows that are taken, and of them the columns that have a new number; -1 has none.
CsrMatrix part_of(const CsrMatrix& matrix, const std::vector<bool>& is_taken,
                  const Buffer<Index>& new_col, Index cols) {
  std::vector<Offset> row_offsets{0};
  std::vector<Index> col_indices;
  for (Index row = 0; row < matrix.rows(); ++row) {
    if (!is_taken[static_cast<std::size_t>(row)]) continue;
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = new_col[matrix.col_indices()[at]];
      if (col >= 0) col_indices.push_back(col);
    }
    row_offsets.push_back(static_cast<Offset>(col_indices.size()));
  }
  const auto rows = static_cast<Offset>(row_offsets.size()) - 1;
  return CsrMatrix(static_cast<Index>(rows), cols,
                   Buffer<Offset>::copy_of(row_offsets.data(), rows + 1),
                   Buffer<Index>::copy_of(col_indices.data(), row_offsets.back()), ValueArray());
}

}  // namespace

Snowball snowball(const CsrMatrix& matrix, Offset entries, std::uint64_t seed) {
  Snowball sample;
  if (matrix.nnz() <= entries) {
    sample.matrix = matrix;
    sample.is_whole = true;
    return sample;
  }
  const bool is_square = matrix.rows() == matrix.cols();
  const CsrMatrix rows_of_col = is_square ? CsrMatrix() : transpose(matrix);
  const std::vector<bool> is_taken =
      Balls(matrix, is_square ? nullptr : &rows_of_col).grow(entries, seed);

  // Ascending, so that the sample lies in the order of the whole.
  Buffer<Index> new_col(matrix.cols());
  std::fill(new_col.begin(), new_col.end(), Index{-1});
  const Offset long_row = long_row_of(matrix);
  Offset all_entries = 0, short_entries = 0, short_inside = 0, long_entries = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Offset length = matrix.row_length(row);
    if (length >= long_row) long_entries += length;
    if (!is_taken[static_cast<std::size_t>(row)]) continue;
    all_entries += length;
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = matrix.col_indices()[at];
      if (!is_square) {
        new_col[col] = 0;
      } else if (length < long_row && matrix.row_length(col) < long_row) {
        // Reads of a hub hit in every order, so they count neither as inside nor as outside.
        ++short_entries;
        short_inside += is_taken[static_cast<std::size_t>(col)];
      }
    }
    if (is_square) new_col[row] = 0;
  }
  Index cols = 0;
  for (Index& col : new_col) col = col < 0 ? -1 : cols++;
  sample.matrix = part_of(matrix, is_taken, new_col, cols);
  sample.entry_share = static_cast<double>(all_entries) / static_cast<double>(matrix.nnz());
  if (is_square) {
    // Sampling by neighbourhood meets long rows too often; their true share is known.
    const double of_short =
        static_cast<double>(short_inside) / static_cast<double>(std::max<Offset>(short_entries, 1));
    sample.inside_share =
        of_short * (1 - static_cast<double>(long_entries) / static_cast<double>(matrix.nnz()));
  }
  return sample;
}

}  // namespace csrkit::reorder
