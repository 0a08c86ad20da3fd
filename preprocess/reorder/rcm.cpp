// rcm: reverse Cuthill-McKee, which narrows the band around the diagonal.
//
// Every connected component is numbered breadth first from a vertex at one of its far ends, each
// vertex's new neighbours by ascending degree (Cuthill, McKee, Proc. 24th Nat. Conf. ACM, 1969),
// and the numbering is then reversed, which keeps the bandwidth and lowers the profile (George,
// 1971). The far end is found by the algorithm of George and Liu (ACM TOMS 5(3), 1979): search from
// a vertex, move to the vertex of least degree in the last level, repeat while that gains levels.
// Components follow each other in the order of their first vertices. Ties go to the lower number,
// so the result depends on nothing but the pattern.
#include <algorithm>
#include <utility>
#include <vector>

#include "preprocess/reorder/adjacency.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit::reorder {

namespace {

// Real graphs settle after two to five searches. A stop is needed because a crafted one can gain a
// single level per search, which would make the whole quadratic; it costs quality there, no more.
constexpr int kMaxSearches = 16;

// Rows between two calls of the progress callback.
constexpr Index kProgressStep = 1 << 20;

enum Mark : std::uint8_t { kUntouched, kQueued };

class CuthillMcKee {
 public:
  explicit CuthillMcKee(const Adjacency& graph)
      : graph_(graph), order_(graph.vertices), mark_(graph.vertices) {
    std::fill(mark_.begin(), mark_.end(), kUntouched);
  }

  Buffer<Index> old_of_new(const ProgressCallback& progress) {
    Index reported = 0;
    for (Index v = 0; v < graph_.vertices; ++v) {
      if (mark_[v] != kUntouched) continue;
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
  bool comes_first(Index u, Index v) const {
    const Index du = graph_.degree(u), dv = graph_.degree(v);
    return du != dv ? du < dv : u < v;
  }

  struct Levels {
    Index count;     // of levels
    Index farthest;  // the vertex of least degree in the last one
  };

  /// A breadth-first search that leaves no trace. The part of `order_` that is not numbered yet is
  /// its queue: it always has room for the component.
  Levels search(Index root) {
    Index* queue = order_.data() + done_;
    Index size = 1, level_begin = 0, level_end = 1, levels = 1;
    queue[0] = root;
    mark_[root] = kQueued;
    while (true) {
      for (Index at = level_begin; at < level_end; ++at) {
        const Index v = queue[at];
        for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
          const Index neighbour = graph_.neighbours[e];
          if (mark_[neighbour] != kUntouched) continue;
          mark_[neighbour] = kQueued;
          queue[size++] = neighbour;
        }
      }
      if (size == level_end) break;
      level_begin = level_end;
      level_end = size;
      ++levels;
    }
    const Index farthest = *std::min_element(queue + level_begin, queue + level_end,
                                             [&](Index u, Index v) { return comes_first(u, v); });
    for (Index at = 0; at < size; ++at) mark_[queue[at]] = kUntouched;
    return {levels, farthest};
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
    const Index begin = done_;
    order_[done_++] = root;
    mark_[root] = kQueued;
    for (Index at = begin; at < done_; ++at) {
      const Index v = order_[at];
      const Index first_new = done_;
      for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
        const Index neighbour = graph_.neighbours[e];
        if (mark_[neighbour] != kUntouched) continue;
        mark_[neighbour] = kQueued;
        order_[done_++] = neighbour;
      }
      std::sort(order_.data() + first_new, order_.data() + done_,
                [&](Index x, Index y) { return comes_first(x, y); });
    }
    std::reverse(order_.data() + begin, order_.data() + done_);
  }

  const Adjacency& graph_;
  Buffer<Index> order_;
  Buffer<std::uint8_t> mark_;
  Index done_ = 0;
};

}  // namespace

Buffer<Index> rcm_old_of_new(const Adjacency& graph, const ProgressCallback& progress) {
  return CuthillMcKee(graph).old_of_new(progress);
}

Ordering rcm(const CsrMatrix& matrix, const ReorderOptions& options) {
  const Adjacency graph = build_graph(matrix);
  return ordering_of_vertices(matrix, rcm_old_of_new(graph, options.progress));
}

}  // namespace csrkit::reorder
