#include "core/facts/row_visits.h"

#include <algorithm>

namespace csrkit {

namespace {

/// Cuts the places [0, rows) into `pieces` of about equal nonzeros; pieces + 1 bounds.
std::vector<Index> equal_pieces(const std::vector<Offset>& reads_before, int pieces) {
  std::vector<Index> bounds{0};
  const Offset reads = reads_before.back();
  for (int piece = 1; piece <= pieces; ++piece) {
    const auto target = static_cast<Offset>(static_cast<double>(reads) * piece / pieces);
    const auto at = std::lower_bound(reads_before.begin(), reads_before.end(), target);
    bounds.push_back(std::max(bounds.back(), static_cast<Index>(at - reads_before.begin())));
  }
  bounds.back() = static_cast<Index>(reads_before.size() - 1);
  return bounds;
}

/// Each worker's visits, in order.
std::vector<std::vector<Visit>> visits_of_workers(const std::vector<Offset>& reads_before,
                                                  const ReadOrder& order) {
  const auto workers = static_cast<std::size_t>(order.workers);
  const auto rows = static_cast<Index>(reads_before.size() - 1);
  std::vector<std::vector<Visit>> visits(workers);
  if (order.rows_per_turn > 0) {
    std::size_t worker = 0;
    for (Index first = 0; first < rows;) {
      const Index last = first + std::min(order.rows_per_turn, rows - first);
      visits[worker].push_back({first, last});
      worker = (worker + 1) % workers;
      first = last;
    }
  } else {
    const std::vector<Index> bounds = equal_pieces(reads_before, order.workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
      visits[worker].push_back({bounds[worker], bounds[worker + 1]});
    }
  }
  return visits;
}

/// All workers' visits as one stream. In every turn each worker goes on to the first end of a row
/// at or after the next multiple of 64 of its own nonzeros.
std::vector<Visit> in_step(const std::vector<std::vector<Visit>>& visits,
                           const std::vector<Offset>& reads_before) {
  constexpr Offset kTurn = 64;
  struct Cursor {
    std::size_t visit = 0;
    Index row = 0;
    Offset reads = 0;
  };
  std::vector<Cursor> cursors(visits.size());
  for (std::size_t worker = 0; worker < visits.size(); ++worker) {
    if (!visits[worker].empty()) cursors[worker].row = visits[worker][0].first;
  }
  std::vector<Visit> stream;
  bool is_going_on = true;
  for (Offset until = kTurn; is_going_on; until += kTurn) {
    is_going_on = false;
    for (std::size_t worker = 0; worker < visits.size(); ++worker) {
      Cursor& at = cursors[worker];
      while (at.visit < visits[worker].size() && at.reads < until) {
        const Visit& visit = visits[worker][at.visit];
        const Index first = at.row;
        while (at.row < visit.last && at.reads < until) {
          const auto row = static_cast<std::size_t>(at.row++);
          at.reads += reads_before[row + 1] - reads_before[row];
        }
        if (first < at.row) stream.push_back({first, at.row});
        if (at.row == visit.last && ++at.visit < visits[worker].size()) {
          at.row = visits[worker][at.visit].first;
        }
      }
      is_going_on = is_going_on || at.visit < visits[worker].size();
    }
  }
  return stream;
}

}  // namespace

std::vector<std::vector<Visit>> visits_of(const std::vector<Offset>& reads_before,
                                          const ReadOrder& order) {
  std::vector<std::vector<Visit>> visits = visits_of_workers(reads_before, order);
  if (order.has_private_caches || visits.size() == 1) return visits;
  return {in_step(visits, reads_before)};
}

}  // namespace csrkit
