#include "preprocess/reorder/rcm/level_numbering.h"

#include <omp.h>

#include <algorithm>

#include "core/base/huge_pages.h"
#include "core/base/stopwatch.h"
#include "core/base/team_errors.h"

namespace csrkit::reorder {

namespace {

// Vertices of a level that a thread takes at a time.
constexpr Index kChunk = 256;

/// Lowers a value atomically; false if it was as low already.
bool lower(std::uint32_t& value, std::uint32_t to) {
  std::uint32_t now = __atomic_load_n(&value, __ATOMIC_RELAXED);
  while (now > to) {
    if (__atomic_compare_exchange_n(&value, &now, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

}  // namespace

LevelNumbering::LevelNumbering(const Adjacency& graph)
    : graph_(graph),
      order_(Offset{graph.vertices} + 1),
      parent_(graph.vertices),
      mean_degree_(static_cast<double>(graph.entries()) / std::max(graph.vertices, 1)),
      price_(omp_get_max_threads()) {
  advise_huge_pages(parent_.data(), parent_.size_bytes());
  std::fill(parent_.begin(), parent_.end(), kUntouched);
}

template <class Take>
void LevelNumbering::for_neighbours(Index v, Take&& take) const {
  for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) take(graph_.neighbours[e]);
}

/// Vertices at the places from done() to `end` become untouched again.
void LevelNumbering::forget(Index end) {
  const bool by_team = price_.pays(end - done_);
  const Stopwatch clock;
#pragma omp parallel for schedule(static) if (by_team)
  for (Index at = done_; at < end; ++at) parent_[order_[at]] = kUntouched;
  if (by_team) price_.took(end - done_, clock.seconds(), true);
}

/// A vertex of the next level, and the place of the vertex that discovered it.
struct LevelNumbering::Discovery {
  Index place;
  Index vertex;
};

/// Discovers the next level from the places [begin, end) and appends it to order_; returns the
/// new end, and raises `bandwidth` to the largest distance from a parent. `collect(place, found)`
/// adds the discoveries of one place. When all places are collected, `settle(found)` removes some.
/// Chunks of the level run in parallel.
template <class Collect, class Settle>
Index LevelNumbering::append(Index begin, Index end, Index& bandwidth, Collect&& collect,
                             Settle&& settle) {
  const Index chunks = (end - begin + kChunk - 1) / kChunk;
  std::vector<std::vector<Discovery>> found(static_cast<std::size_t>(chunks));
  std::vector<Index> to(static_cast<std::size_t>(chunks) + 1, end);
  Index widest = bandwidth;
  TeamErrors errors;
#pragma omp parallel reduction(max : widest)
  {
#pragma omp for schedule(dynamic, 1)
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const Index last = std::min(end, begin + (chunk + 1) * kChunk);
      errors.guard([&] {
        for (Index place = begin + chunk * kChunk; place < last; ++place) {
          collect(place, found[static_cast<std::size_t>(chunk)]);
        }
      });
    }
#pragma omp for schedule(dynamic, 1)
    for (Index chunk = 0; chunk < chunks; ++chunk) settle(found[static_cast<std::size_t>(chunk)]);
#pragma omp single
    for (std::size_t chunk = 0; chunk < found.size(); ++chunk) {
      to[chunk + 1] = to[chunk] + static_cast<Index>(found[chunk].size());
    }
#pragma omp for schedule(dynamic, 1)
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      Index place = to[static_cast<std::size_t>(chunk)];
      for (const Discovery& discovery : found[static_cast<std::size_t>(chunk)]) {
        widest = std::max(widest, place - discovery.place);
        order_[place++] = discovery.vertex;
      }
    }
  }
  errors.rethrow();
  bandwidth = widest;
  return to.back();
}

LevelNumbering::Levels LevelNumbering::number(Index root, Index limit) {
  order_[done_] = root;
  parent_[root] = static_cast<std::uint32_t>(done_);
  Levels levels{1, root, 1, 0};
  Index begin = done_, end = done_ + 1;
  while (levels.bandwidth <= limit) {
    const Index next = next_level(begin, end, limit, levels.bandwidth);
    if (next == end) break;
    begin = end;
    end = next;
    ++levels.count;
  }
  levels.farthest = *std::min_element(order_.data() + begin, order_.data() + end);
  levels.size = end - done_;
  forget(end);
  if (levels.bandwidth > limit) levels.bandwidth = kTooWide;
  return levels;
}

/// Numbers the neighbours of the places [begin, end) from `end` on; returns the new end.
Index LevelNumbering::next_level(Index begin, Index end, Index limit, Index& bandwidth) {
  const double neighbours = (end - begin) * mean_degree_;
  if (neighbours < TeamPrice::kFewestTimed) return numbered(begin, end, limit, bandwidth);
  const bool by_team = price_.pays(neighbours);
  const Stopwatch clock;
  const Index next =
      by_team ? numbered_wide(begin, end, bandwidth) : numbered(begin, end, limit, bandwidth);
  price_.took(neighbours, clock.seconds(), by_team);
  return next;
}

void LevelNumbering::keep(const Buffer<Index>& component, Index size) {
  for (Index i = 0; i < size; ++i) {
    order_[done_ + i] = component[i];
    parent_[component[i]] = kDone;
  }
  done_ += size;
}

/// Raises `bandwidth` to the largest distance from a parent. The last vertex that a place discovers
/// is the farthest; of a place that discovers none, the difference is no more than an earlier one.
Index LevelNumbering::numbered(Index begin, Index end, Index limit, Index& bandwidth) {
  Index to = end;
  for (Index place = begin; place < end; ++place) {
    for_neighbours(order_[place], [&](Index u) {
      const std::uint32_t parent = parent_[u];
      order_[to] = u;
      to += parent == kUntouched ? 1 : 0;
      parent_[u] = std::min(parent, static_cast<std::uint32_t>(place));
    });
    bandwidth = std::max(bandwidth, to - 1 - place);
    if (bandwidth > limit) break;  // the caller sees it, and gives up
  }
  return to;
}

/// The parent of a vertex is the lowest place that discovers it, whichever thread comes first.
/// Vertices of earlier levels keep their parent.
Index LevelNumbering::numbered_wide(Index begin, Index end, Index& bandwidth) {
  const auto collect = [&](Index place, std::vector<Discovery>& found) {
    for_neighbours(order_[place], [&](Index u) {
      if (lower(parent_[u], static_cast<std::uint32_t>(place))) found.push_back({place, u});
    });
  };
  const auto settle = [&](std::vector<Discovery>& found) {
    const auto is_not_parent = [&](const Discovery& discovery) {
      return parent_[discovery.vertex] != static_cast<std::uint32_t>(discovery.place);
    };
    found.erase(std::remove_if(found.begin(), found.end(), is_not_parent), found.end());
  };
  return append(begin, end, bandwidth, collect, settle);
}

}  // namespace csrkit::reorder
