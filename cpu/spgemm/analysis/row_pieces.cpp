#include "cpu/spgemm/analysis/row_pieces.h"

#include <omp.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "core/base/team.h"
#include "core/base/team_errors.h"

namespace csrkit::cpu {

namespace {

constexpr Offset kRowCost = 8;           // in products: offsets, survey, loop overheads
constexpr Offset kPiecesPerThread = 32;  // so that the last pieces leave nobody waiting for long
// In products: what taking a piece costs is small beside it, and its part of C stays in a core's
// cache.
constexpr Offset kSmallestPiece = 4096;
constexpr Offset kLargestPiece = 1 << 15;

/// A product that costs no more is one piece, and no work for a team.
constexpr Offset kWorthATeam = 1 << 13;
// Small products have smaller pieces, so that there are some for every thread.
constexpr Offset kPiecesPerThreadAtLeast = 4;
constexpr Offset kTiniestPiece = 512;

Offset piece_size(Offset total, int threads) {
  if (total <= kWorthATeam) return kWorthATeam;
  const Offset smallest =
      std::clamp(total / (kPiecesPerThreadAtLeast * threads), kTiniestPiece, kSmallestPiece);
  return std::clamp(total / (kPiecesPerThread * threads) + 1, smallest, kLargestPiece);
}

/// Where a piece ends, and the running sum there.
struct Bound {
  Index row;
  Offset sum;
};

/// One thread's rows: the sum of their costs, and the ends of pieces.
struct alignas(64) Part {
  Offset sum = 0;
  std::vector<Bound> bounds;
};

Offset sum_of_first(const std::vector<Part>& parts, int count) {
  return std::accumulate(parts.begin(), parts.begin() + count, Offset{0},
                         [](Offset sum, const Part& part) { return sum + part.sum; });
}

}  // namespace

Index row_at(Index rows, const Offset* a_offsets, Offset steps) {
  Index low = 0, high = rows;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (a_offsets[middle] - a_offsets[0] + middle >= steps) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

RowPieces::RowPieces(Index rows, const Offset* a_offsets, Offset* row_products, int threads,
                     const Look& find_products, const Look& look_again) {
  const auto cost_of = [&](Index row) {
    return kRowCost + row_products[row] + (a_offsets[row + 1] - a_offsets[row]);
  };
  Offset* const sums = row_products;
  const Offset steps = a_offsets[rows] - a_offsets[0] + rows;
  const int team = team_for(steps, threads);
  std::vector<Part> all(static_cast<std::size_t>(team));
  TeamErrors errors;
#pragma omp parallel num_threads(team)
  {
    // A smaller team than asked for leaves parts to nobody: parts are counted by what there is.
    const int parts = omp_get_num_threads(), part = omp_get_thread_num();
    const Index begin = row_at(rows, a_offsets, steps * part / parts);
    const Index end = part + 1 < parts ? row_at(rows, a_offsets, steps * (part + 1) / parts) : rows;
    Part& mine = all[static_cast<std::size_t>(part)];
    errors.guard([&] {
      if (find_products) find_products(part, begin, end);
    });
    Offset cost = 0;
    for (Index row = begin; row < end; ++row) cost += cost_of(row);
    mine.sum = cost;
#pragma omp barrier
    const Offset target = piece_size(sum_of_first(all, parts), threads);
    if (part == 0) target_ = target;
    // Pieces end behind the rows where the sums pass a multiple of the target. Every thread looks
    // while it makes the sums: one that searched them all would wait for the caches of other cores.
    errors.guard([&] {
      Offset sum = sum_of_first(all, part);
      Offset goal = (sum / target + 1) * target;
      for (Index row = begin; row < end; ++row) {
        sum += cost_of(row);
        sums[row] = sum;
        if (sum < goal) continue;
        mine.bounds.push_back({row + 1, sum});
        goal = (sum / target + 1) * target;
      }
      if (look_again) look_again(part, begin, end);
    });
  }
  errors.rethrow();

  bounds_.push_back(0);
  cost_sums_.push_back(0);
  const auto end_piece = [&](const Bound& bound) {
    bounds_.push_back(bound.row);
    cost_sums_.push_back(bound.sum);
  };
  for (const Part& part : all) std::for_each(part.bounds.begin(), part.bounds.end(), end_piece);
  if (bounds_.back() < rows) end_piece({rows, sums[rows - 1]});
  put_heavy_first();
}

void RowPieces::put_heavy_first() {
  order_.resize(bounds_.size() - 1);
  std::iota(order_.begin(), order_.end(), Index{0});
  // One heavy row makes a heavy piece: begun last, it would keep one thread busy alone. The others
  // stay in order, because neighbouring rows share rows of B.
  const auto weight = [&](Index piece) {
    return cost(static_cast<std::size_t>(piece)) / (kHeavy * target_);
  };
  const auto is_above = [&](Index piece) { return is_heavy(static_cast<std::size_t>(piece)); };
  if (std::any_of(order_.begin(), order_.end(), is_above)) {
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
