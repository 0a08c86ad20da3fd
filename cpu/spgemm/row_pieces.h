// Rows cut into pieces of equal work, for teams of threads.
#pragma once

#include <functional>
#include <vector>

#include "core/types.h"

namespace csrkit::cpu {

class RowPieces {
 public:
  RowPieces() = default;

  /// A row costs its products, its entries in A and a little for being there. `row_products` is
  /// overwritten.
  RowPieces(Index rows, const Offset* a_offsets, Offset* row_products, int threads);

  /// Calls work(thread, first, last) for the parts of all pieces that lie in [begin, end), from
  /// `threads` threads at once. What a call throws is thrown here, after the others have ended.
  void for_each(Index begin, Index end, int threads,
                const std::function<void(int thread, Index first, Index last)>& work) const;

  std::size_t count() const { return order_.size(); }
  std::uint64_t size_bytes() const { return (bounds_.size() + order_.size()) * sizeof(Index); }

 private:
  std::vector<Index> bounds_;  // piece p is rows [bounds_[p], bounds_[p + 1])
  std::vector<Index> order_;   // pieces that are much heavier than the others first
};

}  // namespace csrkit::cpu
