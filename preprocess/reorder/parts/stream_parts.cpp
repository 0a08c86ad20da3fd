#include "preprocess/reorder/parts/stream_parts.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace csrkit {

namespace {

constexpr Index kRowsBetweenReports = 1 << 20;
constexpr int kRepairPasses = 8;

/// Rows and their entries. A row without entries counts as one: so these are shared out, too.
struct Load {
  Offset entries = 0, rows = 0;
  Load operator+(const Load& more) const { return {entries + more.entries, rows + more.rows}; }
  Load operator-(const Load& less) const { return {entries - less.entries, rows - less.rows}; }
};
Load load_of(const CsrMatrix& matrix, Index row) {
  return {std::max<Offset>(matrix.row_length(row), 1), 1};
}

/// A number for each part, and which part has the smallest: a tree of minima.
class Smallest {
 public:
  explicit Smallest(Index parts) {
    while (leaves_ < static_cast<std::size_t>(parts)) leaves_ *= 2;
    tree_.assign(2 * leaves_, 0);
    for (std::size_t p = static_cast<std::size_t>(parts); p < leaves_; ++p) {
      add(static_cast<Index>(p), Offset{1} << 62);  // no part
    }
  }
  Offset of(Index part) const { return tree_[leaves_ + static_cast<std::size_t>(part)]; }
  void add(Index part, Offset more) {
    std::size_t at = leaves_ + static_cast<std::size_t>(part);
    tree_[at] += more;
    for (at /= 2; at > 0; at /= 2) tree_[at] = std::min(tree_[2 * at], tree_[2 * at + 1]);
  }
  Index part() const {  // the first of them
    std::size_t at = 1;
    while (at < leaves_) at = tree_[2 * at] <= tree_[2 * at + 1] ? 2 * at : 2 * at + 1;
    return static_cast<Index>(at - leaves_);
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<Offset> tree_;
};

/// What is in each part. A part is as full as the scarcer of its two rooms says, that for entries
/// and that for rows; 1 is full.
class Loads {
 public:
  Loads(Index parts, const Load& whole, double slack)
      : entries_(parts),
        rows_(parts),
        most_entries_(room_for(whole.entries, parts, slack)),
        most_rows_(room_for(whole.rows, parts, slack)) {}

  void add(Index part, const Load& more) {
    entries_.add(part, more.entries);
    rows_.add(part, more.rows);
  }
  double fullness(Index part) const { return fullness_with(part, {}); }
  double fullness_with(Index part, const Load& more) const {
    const Load load = of(part) + more;
    return std::max(share_of_entries(load), share_of_rows(load));
  }
  Index fewest_entries() const { return entries_.part(); }
  Index fewest_rows() const { return rows_.part(); }
  /// How much less parts hold beyond their room, if a row moves from one to the other.
  double gain(Index from, Index to, const Load& row) const {
    return excess(of(from)) + excess(of(to)) - excess(of(from) - row) - excess(of(to) + row);
  }

 private:
  static double room_for(Offset whole, Index parts, double slack) {
    return std::max(1.0, slack * static_cast<double>(whole) / static_cast<double>(parts));
  }
  Load of(Index part) const { return {entries_.of(part), rows_.of(part)}; }
  double share_of_entries(const Load& load) const {
    return static_cast<double>(load.entries) / most_entries_;
  }
  double share_of_rows(const Load& load) const {
    return static_cast<double>(load.rows) / most_rows_;
  }
  double excess(const Load& load) const {
    return std::max(0.0, share_of_entries(load) - 1) + std::max(0.0, share_of_rows(load) - 1);
  }

  Smallest entries_, rows_;
  double most_entries_, most_rows_;
};

/// The stream: where every row is, and where it would like to be.
class Stream {
 public:
  Stream(const CsrMatrix& matrix, const StreamOptions& options)
      : matrix_(matrix),
        options_(options),
        is_square_(matrix.rows() == matrix.cols()),
        part_of_row_(matrix.rows()),
        last_reader_(matrix.cols()),
        votes_(static_cast<std::size_t>(options.parts), 0) {
    std::fill(part_of_row_.begin(), part_of_row_.end(), Index{-1});
    std::fill(last_reader_.begin(), last_reader_.end(), Index{-1});
    for (Index row = 0; row < matrix.rows(); ++row) whole_ = whole_ + load_of(matrix, row);
  }

  Partition run() {
    for (int pass = 0; pass < options_.passes; ++pass) {
      // Parts fill up anew in every pass: where all are full, rows could not move any more.
      loads_.emplace(options_.parts, whole_, options_.slack);
      for (Index row = 0; row < matrix_.rows(); ++row) {
        const Load load = load_of(matrix_, row);
        const Index a = loads_->fewest_entries(), b = loads_->fewest_rows();
        const bool is_a = loads_->fullness_with(a, load) <= loads_->fullness_with(b, load);
        const Index part = liked_part(row, load, is_a ? a : b, [](Index) { return true; });
        put(row, part, load);
        if (options_.progress && row % kRowsBetweenReports == 0) report(pass, row);
      }
    }
    for (int pass = 0; pass < kRepairPasses && repair(); ++pass) {
    }
    return {options_.parts, std::make_shared<const Buffer<Index>>(std::move(part_of_row_))};
  }

 private:
  /// The part with room where most columns of a row are at home, less the fuller that part is.
  template <class IsAllowed>
  Index liked_part(Index row, const Load& load, Index otherwise, const IsAllowed& is_allowed) {
    voted_.clear();
    const auto vote = [&](Index part) {
      if (part < 0) return;
      if (votes_[static_cast<std::size_t>(part)]++ == 0) voted_.push_back(part);
    };
    for (Offset e = matrix_.row_offsets()[row]; e < matrix_.row_offsets()[row + 1]; ++e) {
      const Index col = matrix_.col_indices()[e];
      vote(last_reader_[col]);
      if (is_square_ && col != row) vote(part_of_row_[col]);
    }
    Index best = otherwise;
    double best_score = 0;
    for (const Index part : voted_) {
      const double score = votes_[static_cast<std::size_t>(part)] * (1 - loads_->fullness(part));
      votes_[static_cast<std::size_t>(part)] = 0;
      if (loads_->fullness_with(part, load) > 1 || !is_allowed(part)) continue;
      if (score > best_score || (score == best_score && score > 0 && part < best)) {
        best = part;
        best_score = score;
      }
    }
    return best;
  }

  void put(Index row, Index part, const Load& load) {
    part_of_row_[row] = part;
    loads_->add(part, load);
    for (Offset e = matrix_.row_offsets()[row]; e < matrix_.row_offsets()[row + 1]; ++e) {
      last_reader_[matrix_.col_indices()[e]] = part;
    }
  }

  /// Where some parts ran out of room for entries and others of room for rows, neither took what
  /// the other could have: rows of parts that hold too much move. False if nothing did.
  bool repair() {
    bool has_moved = false;
    for (Index row = 0; row < matrix_.rows(); ++row) {
      const Index from = part_of_row_[row];
      if (loads_->fullness(from) <= 1) continue;
      const Load load = load_of(matrix_, row);
      const auto gain = [&](Index to) { return to == from ? 0 : loads_->gain(from, to, load); };
      const Index a = loads_->fewest_entries(), b = loads_->fewest_rows();
      const Index to = liked_part(row, load, gain(a) >= gain(b) ? a : b,
                                  [&](Index part) { return gain(part) > 0; });
      if (gain(to) <= 0) continue;
      loads_->add(from, Load{} - load);
      put(row, to, load);
      has_moved = true;
    }
    return has_moved;
  }

  void report(int pass, Index row) const {
    const auto rows = static_cast<std::uint64_t>(matrix_.rows());
    options_.progress("streaming",
                      static_cast<std::uint64_t>(row) + static_cast<std::uint64_t>(pass) * rows,
                      static_cast<std::uint64_t>(options_.passes) * rows);
  }

  const CsrMatrix& matrix_;
  const StreamOptions& options_;
  bool is_square_;
  Load whole_;
  Buffer<Index> part_of_row_, last_reader_;
  std::vector<Index> votes_, voted_;
  std::optional<Loads> loads_;
};

}  // namespace

Partition stream_parts(const CsrMatrix& matrix, const StreamOptions& options) {
  return Stream(matrix, options).run();
}

std::uint64_t stream_parts_bytes(Index rows, Index cols, Index parts) {
  return (static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(cols)) * sizeof(Index) +
         static_cast<std::uint64_t>(parts) * (2 * sizeof(Index) + 8 * sizeof(Offset));
}

}  // namespace csrkit
