// rcm: reverse Cuthill-McKee, which narrows the band around the diagonal.
//
// Every connected component is numbered breadth first from a vertex at one of its far ends, each
// vertex's new neighbours by ascending degree (Cuthill, McKee, Proc. 24th Nat. Conf. ACM, 1969),
// and the numbering is then reversed, which keeps the bandwidth and lowers the profile (George,
// 1971). The far end is found by the algorithm of George and Liu (ACM TOMS 5(3), 1979): search from
// a vertex, move to the vertex of least degree in the last level, repeat while that gains levels.
// Components follow each other in the order of their first vertices. Ties go to the lower number,
// so the result depends on nothing but the pattern.
//
// Wide levels are divided among threads. A vertex of the next level needs only the lowest place
// among its neighbours in this level: sorted by (that place, degree, number), the level equals that
// of the serial algorithm (Karantasis, Lenharth, Nguyen, Garzaran, Pingali, Parallelization of
// reordering algorithms for bandwidth and wavefront reduction, SC 2014).
#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/memory_hints.h"
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

namespace {

// Real graphs settle after two to five searches. The limit is for crafted graphs that gain a single
// level per search, which would make the whole quadratic; they lose quality, nothing else.
constexpr int kMaxSearches = 16;

// Rows between two calls of the progress callback.
constexpr Index kProgressStep = 1 << 20;

// Below this many vertices in a level, waking threads takes longer than the work.
constexpr Index kWorthThreads = 2048;
// Vertices of a level that a thread takes at a time.
constexpr Index kChunk = 256;

class CuthillMcKee {
 public:
  explicit CuthillMcKee(const Adjacency& graph)
      : graph_(graph), order_(graph.vertices), parent_(graph.vertices) {
    prefer_large_pages(parent_);
    std::fill(parent_.begin(), parent_.end(), kUntouched);
  }

  Buffer<Index> old_of_new(const ProgressCallback& progress) {
    Index reported = 0;
    for (Index v = 0; v < graph_.vertices; ++v) {
      if (parent_[v] != kUntouched) continue;
      number_component(graph_.degree(v) == 0 ? v : far_end(v));
      if (progress && done_ - reported >= kProgressStep) {
        reported = done_;
        progress("rcm", static_cast<std::uint64_t>(done_),
                 static_cast<std::uint64_t>(graph_.vertices));
      }
    }
    return std::move(order_);
  }

 private:
  // What parent_ holds beside places, which are below 2^31. A root needs no place: it is only ever
  // compared with places of its own component, all of which come after it.
  static constexpr std::uint32_t kUntouched = ~std::uint32_t{0};
  static constexpr std::uint32_t kQueued = kUntouched - 1;  // by a search

  bool comes_first(Index u, Index v) const {
    const Index du = graph_.degree(u), dv = graph_.degree(v);
    return du != dv ? du < dv : u < v;
  }

  template <class Take>
  void for_neighbours(Index v, Take&& take) const {
    for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) take(graph_.neighbours[e]);
  }

  static bool is_wide(Index level) { return level >= kWorthThreads && omp_get_max_threads() > 1; }

  /// A vertex of the next level, and the place of the vertex that discovered it.
  struct Discovery {
    Index place;
    Index vertex;
  };

  /// Discovers the next level from the places [begin, end) and appends it to order_; returns the
  /// new end. `collect(place, found)` adds the discoveries of one place. When all places are
  /// collected, `settle(found)` removes and sorts. Chunks of the level run in parallel.
  template <class Collect, class Settle>
  Index append(Index begin, Index end, Collect&& collect, Settle&& settle) {
    const Index chunks = (end - begin + kChunk - 1) / kChunk;
    std::vector<std::vector<Discovery>> found(static_cast<std::size_t>(chunks));
    std::vector<Index> to(static_cast<std::size_t>(chunks) + 1, end);
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1)
      for (Index chunk = 0; chunk < chunks; ++chunk) {
        const Index last = std::min(end, begin + (chunk + 1) * kChunk);
        for (Index place = begin + chunk * kChunk; place < last; ++place) {
          collect(place, found[static_cast<std::size_t>(chunk)]);
        }
      }
#pragma omp for schedule(dynamic, 1)
      for (Index chunk = 0; chunk < chunks; ++chunk) settle(found[static_cast<std::size_t>(chunk)]);
#pragma omp single
      for (std::size_t chunk = 0; chunk < found.size(); ++chunk) {
        to[chunk + 1] = to[chunk] + static_cast<Index>(found[chunk].size());
      }
#pragma omp for schedule(dynamic, 1)
      for (Index chunk = 0; chunk < chunks; ++chunk) {
        Index* next = order_.data() + to[static_cast<std::size_t>(chunk)];
        for (const Discovery& discovery : found[static_cast<std::size_t>(chunk)])
          *next++ = discovery.vertex;
      }
    }
    return to.back();
  }

  struct Levels {
    Index count;     // of levels
    Index farthest;  // the vertex of least degree in the last one
  };

  /// A breadth-first search that leaves no trace. Its queue is the part of `order_` that is not
  /// numbered yet, which has room for the component. The order inside a level does not matter.
  Levels search(Index root) {
    Index begin = done_, end = done_ + 1, levels = 1;
    order_[begin] = root;
    parent_[root] = kQueued;
    while (true) {
      const Index next = is_wide(end - begin) ? searched_wide(begin, end) : searched(begin, end);
      if (next == end) break;
      begin = end;
      end = next;
      ++levels;
    }
    const Index farthest = *std::min_element(order_.data() + begin, order_.data() + end,
                                             [&](Index u, Index v) { return comes_first(u, v); });
#pragma omp parallel for schedule(static) if (is_wide(end - done_))
    for (Index at = done_; at < end; ++at) parent_[order_[at]] = kUntouched;
    return {levels, farthest};
  }

  Index searched(Index begin, Index end) {
    Index to = end;
    for (Index place = begin; place < end; ++place) {
      for_neighbours(order_[place], [&](Index u) {
        if (parent_[u] != kUntouched) return;
        parent_[u] = kQueued;
        order_[to++] = u;
      });
    }
    return to;
  }

  Index searched_wide(Index begin, Index end) {
    const auto collect = [&](Index place, std::vector<Discovery>& found) {
      for_neighbours(order_[place], [&](Index u) {
        if (__atomic_load_n(&parent_[u], __ATOMIC_RELAXED) != kUntouched) return;
        if (__atomic_exchange_n(&parent_[u], kQueued, __ATOMIC_RELAXED) == kUntouched) {
          found.push_back({place, u});
        }
      });
    };
    return append(begin, end, collect, [](std::vector<Discovery>&) {});
  }

  Index far_end(Index start) {
    Levels best = search(start);
    for (int searches = 1; searches < kMaxSearches; ++searches) {
      const Levels next = search(best.farthest);
      if (next.count <= best.count) break;
      best = next;
    }
    return best.farthest;
  }

  void number_component(Index root) {
    const Index first = done_;
    order_[done_++] = root;
    parent_[root] = 0;
    for (Index begin = first; begin < done_;) {
      const Index end = done_;
      done_ = is_wide(end - begin) ? numbered_wide(begin, end) : numbered(begin, end);
      begin = end;
    }
    std::reverse(order_.data() + first, order_.data() + done_);
  }

  Index numbered(Index begin, Index end) {
    Index to = end;
    for (Index place = begin; place < end; ++place) {
      const Index first_new = to;
      for_neighbours(order_[place], [&](Index u) {
        if (parent_[u] != kUntouched) return;
        parent_[u] = static_cast<std::uint32_t>(place);
        order_[to++] = u;
      });
      std::sort(order_.data() + first_new, order_.data() + to,
                [&](Index x, Index y) { return comes_first(x, y); });
    }
    return to;
  }

  /// The parent of a vertex is the lowest place that discovers it, whichever thread comes first.
  /// Vertices of earlier levels keep their parent.
  Index numbered_wide(Index begin, Index end) {
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
      std::sort(found.begin(), found.end(), [&](const Discovery& x, const Discovery& y) {
        return x.place != y.place ? x.place < y.place : comes_first(x.vertex, y.vertex);
      });
    };
    return append(begin, end, collect, settle);
  }

  /// Lowers a value atomically; false if it was as low already.
  static bool lower(std::uint32_t& value, std::uint32_t to) {
    std::uint32_t now = __atomic_load_n(&value, __ATOMIC_RELAXED);
    while (now > to) {
      if (__atomic_compare_exchange_n(&value, &now, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return true;
      }
    }
    return false;
  }

  const Adjacency& graph_;
  Buffer<Index> order_;
  Buffer<std::uint32_t> parent_;  // the place of the vertex that numbered it
  Index done_ = 0;
};

}  // namespace

Buffer<Index> rcm_old_of_new(const Adjacency& graph, const ProgressCallback& progress) {
  return CuthillMcKee(graph).old_of_new(progress);
}

Ordering rcm(const CsrMatrix& matrix, const MethodRequest& request) {
  const Adjacency graph = build_graph(matrix);
  return ordering_of_vertices(matrix, rcm_old_of_new(graph, request.progress));
}

}  // namespace csrkit::reorder
