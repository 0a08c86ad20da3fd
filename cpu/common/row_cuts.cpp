#include "cpu/common/row_cuts.h"

#include <algorithm>

namespace csrkit::cpu {

namespace {

/// A row with more than this part of all work may weigh: an eighth of what each of 16 threads has.
constexpr Offset kHubsShare = 128;

/// The entries of one hub, a task per stretch.
void cut_hub(const CsrMatrix& a, Index row, Offset size, RowCuts* cuts) {
  const Offset end = a.row_offsets()[row + 1];
  const Offset first_stretch = cuts->stretches;
  for (Offset begin = a.row_offsets()[row]; begin < end; begin += size) {
    cuts->tasks.push_back({begin, std::min(begin + size, end), cuts->stretches++});
  }
  cuts->hubs.push_back({row, first_stretch, cuts->stretches - first_stretch});
}

/// Of some rows: which are hubs, and how many entries the others have.
struct HubsAndRest {
  std::vector<Index> hubs;
  Offset rest = 0;

  HubsAndRest(const CsrMatrix& a, Index first, Index last, Offset hub_length) {
    for (Index row = first; row < last; ++row) {
      if (a.row_length(row) > hub_length) {
        hubs.push_back(row);
      } else {
        rest += a.row_length(row);
      }
    }
  }
};

/// Rows [first, last): the rows between two hubs are a task, and hubs are cut in stretches of half
/// the length from which on they are hubs.
void cut_between_hubs(const CsrMatrix& a, Index first, Index last, RowCuts* cuts) {
  for (const Index hub : HubsAndRest(a, first, last, cuts->hub_length).hubs) {
    if (first < hub) cuts->tasks.push_back({first, hub, -1});
    cut_hub(a, hub, cuts->hub_length / 2, cuts);
    first = hub + 1;
  }
  if (first < last) cuts->tasks.push_back({first, last, -1});
}

/// Rows [first, last), but their hubs, in halves until a task has at most `most` entries, which is
/// more than one row has that is no hub.
void halve_unit(const CsrMatrix& a, Index first, Index last, Offset most, RowCuts* cuts) {
  const HubsAndRest unit(a, first, last, cuts->hub_length);
  if (unit.rest <= most) {
    cuts->tasks.push_back({first, last, -1, !unit.hubs.empty()});
    return;
  }
  const Index middle = first + (last - first + 1) / 2;
  halve_unit(a, first, middle, most, cuts);
  halve_unit(a, middle, last, most, cuts);
}

}  // namespace

RowCuts cut_rows(const CsrMatrix& a, const PieceSizes& sizes) {
  const Index rows = a.rows(), step = sizes.rows_at_once;
  const Index units = rows / step + (rows % step != 0);
  const auto row_of = [&](Index unit) {
    return static_cast<Index>(std::min<Offset>(Offset{unit} * step, rows));
  };
  const Offset* offsets = a.row_offsets();
  const Offset work = a.nnz() + rows;
  const Offset least = std::clamp(work / sizes.fewest_pieces, sizes.smallest, sizes.usual);
  const Offset size = std::clamp(work / sizes.pieces_wanted, least, sizes.largest);
  const Offset most_of_unit =
      2 * std::max({size, work / sizes.fewest_pieces, work / std::max<Index>(1, units)});
  RowCuts cuts;
  cuts.hub_length = sizes.halves_units ? size : 2 * size;
  const bool has_short_hubs = sizes.shortest_hub > 0;
  if (has_short_hubs) {
    cuts.hub_length = std::min(cuts.hub_length, std::max(sizes.shortest_hub, work / kHubsShare));
  }
  Offset piece = size;
  if (sizes.shares > 0) {
    const Offset of_each = std::max<Offset>(1, (work / sizes.shares + size / 2) / size);
    piece = std::max<Offset>(1, (work + sizes.shares * of_each - 1) / (sizes.shares * of_each));
  }
  Index start = 0;
  for (Offset goal = piece; start < units; goal += piece) {
    // The first unit that begins at or after the goal, counting nonzeros and rows.
    Index low = start, high = units;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (offsets[row_of(middle)] + row_of(middle) >= goal) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (low == start) continue;  // inside a long unit
    if (has_short_hubs) {
      // Rows that are no hubs still weigh: the piece ends at the end that is nearer.
      const Offset beyond = offsets[low] + low - goal;
      if (low - start > 1 && goal - offsets[low - 1] - (low - 1) < beyond) --low;
      cut_between_hubs(a, start, low, &cuts);
      start = low;
      continue;
    }
    // Only the last unit before the goal can reach over two goals.
    const Index last = low - 1;
    const HubsAndRest unit(a, row_of(last), row_of(low), cuts.hub_length);
    // A piece has up to one and a half times `size`: a hub of two is in that unit, one of one may
    // be in any.
    const std::vector<Index> hubs =
        sizes.halves_units ? HubsAndRest(a, row_of(start), row_of(low), cuts.hub_length).hubs
                           : unit.hubs;
    const bool is_halved = sizes.halves_units && unit.rest > most_of_unit;
    const Index whole = is_halved || (step == 1 && !unit.hubs.empty()) ? last : low;
    if (start < whole) {
      const bool holds_hub = !hubs.empty() && hubs.front() < row_of(whole);
      cuts.tasks.push_back({row_of(start), row_of(whole), -1, holds_hub});
    }
    if (is_halved) halve_unit(a, row_of(last), row_of(low), most_of_unit, &cuts);
    for (const Index row : hubs) cut_hub(a, row, size, &cuts);
    start = low;
  }
  if (has_short_hubs) {
    const Offset pieces = (work + piece - 1) / piece;
    cuts.small_tasks = std::max<Offset>(0, static_cast<Offset>(cuts.tasks.size()) - pieces);
  }
  return cuts;
}

EvenShares::EvenShares(const CsrMatrix& a, const RowCuts& cuts) {
  middles_.reserve(cuts.tasks.size());
  for (const Task& task : cuts.tasks) {
    Offset work = task.last - task.first;  // entries of a hub, or rows
    if (task.stretch < 0) {
      work += a.row_offsets()[task.last] - a.row_offsets()[task.first];
      for (auto row = static_cast<Index>(task.first); task.holds_hub && row < task.last; ++row) {
        if (a.row_length(row) > cuts.hub_length) work -= a.row_length(row);
      }
    }
    middles_.push_back(2 * work_ + work);
    work_ += work;
  }
}

Offset EvenShares::first_task(int thread, int threads) const {
  const Offset begin = 2 * work_ * thread / threads;
  return std::lower_bound(middles_.begin(), middles_.end(), begin) - middles_.begin();
}

std::uint64_t row_cuts_bytes(const CsrMatrix& a, const PieceSizes& sizes) {
  // At most one task per smallest piece of work, and one more where a hub begins.
  const auto work = static_cast<std::uint64_t>(a.nnz() + a.rows());
  // A short hub is three stretches, and the rows before it are a task: as many as of two pieces.
  const auto short_hubs =
      sizes.shortest_hub > 0
          ? std::min<std::uint64_t>(kHubsShare,
                                    work / static_cast<std::uint64_t>(sizes.shortest_hub))
          : 0;
  const std::uint64_t pieces = std::min(work / static_cast<std::uint64_t>(sizes.smallest) + 1,
                                        static_cast<std::uint64_t>(sizes.pieces_wanted) +
                                            work / static_cast<std::uint64_t>(sizes.largest) + 2) +
                               2 * static_cast<std::uint64_t>(sizes.shares) + 2 * short_hubs;
  return 2 * pieces * (2 * sizeof(Task) + sizeof(Hub) + sizeof(Offset));
}

}  // namespace csrkit::cpu
