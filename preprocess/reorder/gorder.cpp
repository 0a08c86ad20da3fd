// gorder: the next row is the one that shares most columns with the last few.
//
// The window order of Wei, Yu, Lu and Lin (SIGMOD 2016), with the score that a product sees: row v
// scores by the columns it has in common with each of the last kWindow rows, since those rows of B
// were just read. (Their score also counts edges between the vertices themselves, which reading B
// does not profit from.) Greedy and serial: what the next row is depends on all rows before it.
// Looks at rows and columns as such, so directed and rectangular matrices are nothing special.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

namespace {

constexpr Index kWindow = 5;  // as published: wider windows cost more and gained nothing

// A column in very many rows says little about any two of them, and costs the square of its length.
constexpr Offset kLeastHub = 64;

// Rows between two calls of the progress callback.
constexpr Index kProgressStep = 1 << 16;

/// Rows by score: a list for each score, so that a step up or down costs the same for any number of
/// rows. Scores above kTop share the last list.
class ScoreLists {
 public:
  explicit ScoreLists(Index rows)
      : score_(rows), next_(rows), before_(rows), first_(kTop + 1, kNone) {
    std::fill(score_.begin(), score_.end(), Index{0});
  }

  /// A score of 0 is in no list.
  void change(Index row, Index by) {
    const Index from = std::min(score_[row], kTop), to = std::min(score_[row] + by, kTop);
    score_[row] += by;
    if (from == to) return;
    if (from > 0) unlink(row, from);
    if (to > 0) link(row, to);
  }
  /// The row of the highest score that came to it last, or kNone.
  Index best() {
    while (highest_ > 0 && first_[static_cast<std::size_t>(highest_)] == kNone) --highest_;
    return highest_ > 0 ? first_[static_cast<std::size_t>(highest_)] : kNone;
  }
  void remove(Index row) {
    const Index list = std::min(score_[row], kTop);
    if (list > 0) unlink(row, list);
    score_[row] = kPlaced;
  }
  bool is_placed(Index row) const { return score_[row] == kPlaced; }

  static constexpr Index kNone = -1;

 private:
  static constexpr Index kTop = 1023;
  static constexpr Index kPlaced = -1;

  void link(Index row, Index list) {
    Index& first = first_[static_cast<std::size_t>(list)];
    next_[row] = first;
    before_[row] = kNone;
    if (first != kNone) before_[first] = row;
    first = row;
    highest_ = std::max(highest_, list);
  }
  void unlink(Index row, Index list) {
    if (before_[row] == kNone) {
      first_[static_cast<std::size_t>(list)] = next_[row];
    } else {
      next_[before_[row]] = next_[row];
    }
    if (next_[row] != kNone) before_[next_[row]] = before_[row];
  }

  Buffer<Index> score_, next_, before_;
  std::vector<Index> first_;
  Index highest_ = 0;
};

}  // namespace

Ordering gorder(const CsrMatrix& matrix, const MethodRequest& request) {
  const Index n = matrix.rows();
  const CsrMatrix rows_of_col = transpose(pattern_view(matrix));
  const Offset hub = std::max(kLeastHub, static_cast<Offset>(std::sqrt(static_cast<double>(n))));

  ScoreLists scores(n);
  const auto count = [&](Index row, Index by) {
    for (Offset at = matrix.row_offsets()[row]; at < matrix.row_offsets()[row + 1]; ++at) {
      const Index col = matrix.col_indices()[at];
      if (rows_of_col.row_length(col) > hub) continue;
      for (Offset e = rows_of_col.row_offsets()[col]; e < rows_of_col.row_offsets()[col + 1]; ++e) {
        const Index other = rows_of_col.col_indices()[e];
        if (!scores.is_placed(other)) scores.change(other, by);
      }
    }
  };

  Buffer<Index> old_of_new(n);
  Index unseen = 0;  // the next row where no column is shared: the first that is not placed
  for (Index place = 0; place < n; ++place) {
    Index row = scores.best();
    if (row == ScoreLists::kNone) {
      while (scores.is_placed(unseen)) ++unseen;
      row = unseen;
    }
    scores.remove(row);
    old_of_new[place] = row;
    count(row, 1);
    if (place >= kWindow) count(old_of_new[place - kWindow], -1);
    if (request.progress && place % kProgressStep == 0) {
      request.progress("gorder", static_cast<std::uint64_t>(place), static_cast<std::uint64_t>(n));
    }
  }
  return {Permutation::from_old_of_new(std::move(old_of_new))};
}

}  // namespace csrkit::reorder
