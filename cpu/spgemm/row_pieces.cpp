#include "cpu/spgemm/row_pieces.h"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "cpu/common/prefix_sum.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kRowCost = 8;           // in products: offsets, survey, loop overheads
constexpr Offset kPiecesPerThread = 64;  // so that the last pieces leave nobody waiting for long
// In products: what taking a piece costs is small beside it, and its part of C stays in a core's
// cache.
constexpr Offset kSmallestPiece = 2048;
constexpr Offset kLargestPiece = 1 << 15;

}  // namespace

RowPieces::RowPieces(Index rows, const Offset* a_offsets, Offset* row_products, int threads) {
  inclusive_sums(
      rows, threads,
      [&](Index row) {
        return kRowCost + row_products[row] + (a_offsets[row + 1] - a_offsets[row]);
      },
      row_products);
  const Offset* const sums = row_products;
  const Offset total = rows > 0 ? sums[rows - 1] : 0;
  target_ = std::clamp(total / (kPiecesPerThread * threads) + 1, kSmallestPiece, kLargestPiece);

  bounds_.push_back(0);
  while (bounds_.back() < rows) {
    // The row that completes the piece is its last.
    const Index first = bounds_.back();
    const Offset before = first > 0 ? sums[first - 1] : 0;
    const Offset* const end = sums + rows;
    const Offset* const last = std::lower_bound(sums + first, end, before + target_);
    bounds_.push_back(last == end ? rows : static_cast<Index>(last - sums) + 1);
    costs_.push_back(sums[bounds_.back() - 1] - before);
  }
  order_.resize(costs_.size());
  for (std::size_t piece = 0; piece < costs_.size(); ++piece) {
    order_[piece] = static_cast<Index>(piece);
  }
  // One heavy row makes a heavy piece: begun last, it would keep one thread busy alone. The others
  // stay in order, because neighbouring rows share rows of B.
  std::stable_sort(order_.begin(), order_.end(), [&](Index x, Index y) {
    return costs_[static_cast<std::size_t>(x)] / (2 * target_) >
           costs_[static_cast<std::size_t>(y)] / (2 * target_);
  });
}

void RowPieces::for_each(
    Index begin, Index end, int threads,
    const std::function<void(int thread, Index first, Index last)>& work) const {
  const auto pieces = static_cast<Offset>(order_.size());
  std::exception_ptr error;
  const int team = pieces > 1 ? threads : 1;  // one piece is no work for a team
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (Offset i = 0; i < pieces; ++i) {
    const auto piece = static_cast<std::size_t>(order_[static_cast<std::size_t>(i)]);
    const Index first = std::max(begin, bounds_[piece]);
    const Index last = std::min(end, bounds_[piece + 1]);
    if (first >= last) continue;
    try {
      work(omp_get_thread_num(), first, last);
    } catch (...) {
#pragma omp critical(csrkit_row_pieces_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace csrkit::cpu
