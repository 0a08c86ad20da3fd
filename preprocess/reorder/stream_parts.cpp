#include "preprocess/reorder/stream_parts.h"

#include <algorithm>
#include <vector>

namespace csrkit {

namespace {

constexpr Index kRowsBetweenReports = 1 << 20;

/// The entries in each part, and which part has fewest: a tree of minima.
class Loads {
 public:
  explicit Loads(Index parts) : leaves_(1) {
    while (leaves_ < static_cast<std::size_t>(parts)) leaves_ *= 2;
    tree_.assign(2 * leaves_, 0);
    for (std::size_t p = static_cast<std::size_t>(parts); p < leaves_; ++p) {
      add(static_cast<Index>(p), Offset{1} << 62);  // no part
    }
  }
  Offset of(Index part) const { return tree_[leaves_ + static_cast<std::size_t>(part)]; }
  void add(Index part, Offset entries) {
    std::size_t at = leaves_ + static_cast<std::size_t>(part);
    tree_[at] += entries;
    for (at /= 2; at > 0; at /= 2) tree_[at] = std::min(tree_[2 * at], tree_[2 * at + 1]);
  }
  Index least() const {  // the first of them
    std::size_t at = 1;
    while (at < leaves_) at = tree_[2 * at] <= tree_[2 * at + 1] ? 2 * at : 2 * at + 1;
    return static_cast<Index>(at - leaves_);
  }

 private:
  std::size_t leaves_;
  std::vector<Offset> tree_;
};

}  // namespace

Partition stream_parts(const CsrMatrix& matrix, const StreamOptions& options) {
  const bool is_square = matrix.rows() == matrix.cols();
  Buffer<Index> part_of_row(matrix.rows()), last_reader(matrix.cols());
  std::fill(part_of_row.begin(), part_of_row.end(), Index{-1});
  std::fill(last_reader.begin(), last_reader.end(), Index{-1});
  // A row without entries counts as one: so these are shared out, too.
  const auto weight_of = [&](Index row) { return std::max<Offset>(matrix.row_length(row), 1); };
  Offset all = 0;
  for (Index row = 0; row < matrix.rows(); ++row) all += weight_of(row);
  const double capacity =
      std::max(1.0, options.slack * static_cast<double>(all) / static_cast<double>(options.parts));
  std::vector<Index> votes(static_cast<std::size_t>(options.parts), 0), voted;
  for (int pass = 0; pass < options.passes; ++pass) {
    // Parts fill up anew in every pass: where all are full, rows could not move any more.
    Loads loads(options.parts);
    for (Index row = 0; row < matrix.rows(); ++row) {
      const Offset begin = matrix.row_offsets()[row], end = matrix.row_offsets()[row + 1];
      const Offset weight = weight_of(row);
      voted.clear();
      const auto vote = [&](Index part) {
        if (part < 0) return;
        if (votes[static_cast<std::size_t>(part)]++ == 0) voted.push_back(part);
      };
      for (Offset e = begin; e < end; ++e) {
        const Index col = matrix.col_indices()[e];
        vote(last_reader[col]);
        if (is_square && col != row) vote(part_of_row[col]);
      }
      Index best = loads.least();
      double best_score = 0;
      for (const Index part : voted) {
        const auto load = static_cast<double>(loads.of(part));
        const double score = votes[static_cast<std::size_t>(part)] * (1 - load / capacity);
        votes[static_cast<std::size_t>(part)] = 0;
        const bool has_room = load + static_cast<double>(weight) <= capacity;
        if (has_room && (score > best_score || (score == best_score && score > 0 && part < best))) {
          best = part;
          best_score = score;
        }
      }
      part_of_row[row] = best;
      loads.add(best, weight);
      for (Offset e = begin; e < end; ++e) last_reader[matrix.col_indices()[e]] = best;
      if (options.progress && row % kRowsBetweenReports == 0) {
        options.progress(
            "streaming",
            static_cast<std::uint64_t>(row) +
                static_cast<std::uint64_t>(pass) * static_cast<std::uint64_t>(matrix.rows()),
            static_cast<std::uint64_t>(options.passes) * static_cast<std::uint64_t>(matrix.rows()));
      }
    }
  }
  return {options.parts, std::make_shared<const Buffer<Index>>(std::move(part_of_row))};
}

std::uint64_t stream_parts_bytes(Index rows, Index cols, Index parts) {
  return (static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(cols)) * sizeof(Index) +
         static_cast<std::uint64_t>(parts) * (2 * sizeof(Index) + 4 * sizeof(Offset));
}

}  // namespace csrkit
