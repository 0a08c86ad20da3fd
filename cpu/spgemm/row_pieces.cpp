#include "cpu/spgemm/row_pieces.h"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "core/base/team.h"
#include "core/base/team_errors.h"
#include "cpu/common/prefix_sum.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kRowCost = 8;           // in products: offsets, survey, loop overheads
constexpr Offset kPiecesPerThread = 32;  // so that the last pieces leave nobody waiting for long
// In products: what taking a piece costs is small beside it, and its part of C stays in a core's
// cache.
constexpr Offset kSmallestPiece = 4096;
constexpr Offset kLargestPiece = 1 << 15;

/// Where a piece ends, and the running sum there.
struct Bound {
  Index row;
  Offset sum;
};

/// Behind the rows where the running sums pass a multiple of `target`, and behind the last row.
/// Every thread looks at the sums that it made: one thread that searched them all took a third of a
/// small product, waiting for the caches of other cores at every step.
std::vector<Bound> find_bounds(Index rows, const Offset* sums, Offset target, int threads) {
  const int team = team_for(rows, threads);
  std::vector<std::vector<Bound>> found(static_cast<std::size_t>(team));
  TeamErrors errors;
#pragma omp parallel num_threads(team)
  {
    const int parts = omp_get_num_threads(), part = omp_get_thread_num();
    const auto begin = static_cast<Index>(Offset{rows} * part / parts);
    const auto end = static_cast<Index>(Offset{rows} * (part + 1) / parts);
    errors.guard([&] {
      std::vector<Bound>& mine = found[static_cast<std::size_t>(part)];
      Offset goal = begin > 0 ? (sums[begin - 1] / target + 1) * target : target;
      for (Index row = begin; row < end; ++row) {
        if (sums[row] < goal) continue;
        mine.push_back({row + 1, sums[row]});
        goal = (sums[row] / target + 1) * target;
      }
    });
  }
  errors.rethrow();
  std::vector<Bound> bounds;
  for (const std::vector<Bound>& part : found) {
    bounds.insert(bounds.end(), part.begin(), part.end());
  }
  if (rows > 0 && (bounds.empty() || bounds.back().row < rows)) {
    bounds.push_back({rows, sums[rows - 1]});
  }
  return bounds;
}

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
  Offset before = 0;
  for (const Bound& bound : find_bounds(rows, sums, target_, threads)) {
    bounds_.push_back(bound.row);
    costs_.push_back(bound.sum - before);
    before = bound.sum;
  }
  order_.resize(costs_.size());
  for (std::size_t piece = 0; piece < costs_.size(); ++piece) {
    order_[piece] = static_cast<Index>(piece);
  }
  // One heavy row makes a heavy piece: begun last, it would keep one thread busy alone. The others
  // stay in order, because neighbouring rows share rows of B.
  const auto weight = [&](Index piece) {
    return costs_[static_cast<std::size_t>(piece)] / (kHeavy * target_);
  };
  if (std::any_of(order_.begin(), order_.end(), [&](Index piece) { return weight(piece) > 0; })) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index x, Index y) { return weight(x) > weight(y); });
  }
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
