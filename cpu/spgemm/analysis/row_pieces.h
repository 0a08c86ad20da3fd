// Rows cut into pieces of equal work, for teams of threads.
#pragma once

#include <functional>
#include <vector>

#include "core/base/types.h"

namespace csrkit::cpu {

/// The first of `rows` rows before which there are at least `steps` rows and entries.
Index row_at(Index rows, const Offset* a_offsets, Offset steps);

class RowPieces {
 public:
  RowPieces() = default;

  /// What a thread does with its rows: those of all threads together are [0, rows).
  using Look = std::function<void(int thread, Index begin, Index end)>;

  /// A row costs its products, its entries in A and a little for being there. `row_products` is
  /// overwritten by the running sums of the costs. Every thread calls find_products, which writes
  /// them, before anybody cuts, and look_again when all have returned from it.
  RowPieces(Index rows, const Offset* a_offsets, Offset* row_products, int threads,
            const Look& find_products = {}, const Look& look_again = {});

  /// Calls work(thread, first, last) for the parts of all pieces that lie in [begin, end), from
  /// `threads` threads at once. What a call throws is thrown here, after the others have ended.
  void for_each(Index begin, Index end, int threads,
                const std::function<void(int thread, Index first, Index last)>& work) const;

  std::size_t count() const { return order_.size(); }
  std::uint64_t size_bytes() const {
    return (bounds_.size() + order_.size()) * sizeof(Index) + cost_sums_.size() * sizeof(Offset);
  }

  /// Piece p is rows [first_row(p), first_row(p + 1)), and costs cost(p): at least its products, or
  /// with a mask at least its entries of C.
  Index first_row(std::size_t piece) const { return bounds_[piece]; }
  Offset cost(std::size_t piece) const { return cost_sums_[piece + 1] - cost_sums_[piece]; }
  Offset cost_before(std::size_t piece) const { return cost_sums_[piece]; }
  Offset cost_of_all() const { return cost_sums_.empty() ? 0 : cost_sums_.back(); }
  /// A piece that one long row makes much heavier than the others.
  bool is_heavy(std::size_t piece) const { return cost(piece) > kHeavy * target_; }
  /// All pieces, those to begin with first.
  const std::vector<Index>& order() const { return order_; }

 private:
  void put_heavy_first();

  static constexpr Offset kHeavy = 2;
  Offset target_ = 0;
  std::vector<Index> bounds_;
  std::vector<Offset> cost_sums_;
  std::vector<Index> order_;  // pieces that are much heavier than the others first
};

}  // namespace csrkit::cpu
