// community: vertices that are densely connected become neighbours, and so do such groups of them,
// level by level.
//
// The family of Rabbit order (Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, IPDPS 2016): aggregate by
// modularity, then number the leaves of the tree of merges depth first, so that every level of the
// caches finds a level of the tree that fits it. Groups come from rounds of parallel moves
// (aggregation.cpp) and not from a race of merges, so the order is the same for any thread count.
#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "preprocess/reorder/aggregation.h"
#include "preprocess/reorder/reorder.h"

namespace csrkit::reorder {

namespace {

constexpr int kMaxLevels = 20;
// A level that leaves more than this share of the vertices is not worth its graph.
constexpr double kWorthMerging = 0.95;

// Below this many vertices, waking threads takes longer than the work.
constexpr Index kWorthThreads = 4096;

// Up to so many members, the next one is looked for among all.
constexpr Index kFewMembers = 256;

/// Puts the members of groups into an order in which every one is well connected to those before
/// it: the next is always the one with the heaviest edges to the placed ones, relative to its size,
/// or the hubs would always be next (Prim's walk); starts are taken by size.
class Chain {
 public:
  Chain(const WeightedGraph& graph, const Buffer<Index>& group_of_vertex)
      : graph_(graph),
        group_(group_of_vertex),
        strength_(graph.vertices),
        is_placed_(graph.vertices) {
    std::fill(strength_.begin(), strength_.end(), 0.0);
    std::fill(is_placed_.begin(), is_placed_.end(), std::uint8_t{0});
  }

  /// [first, last) are all members of one group. Groups may be arranged at the same time.
  void arrange(Index* first, Index* last) {
    if (last - first < 3) return;
    const Index group = group_[*first];
    std::vector<Index> starts(first, last);
    std::sort(starts.begin(), starts.end(), [&](Index a, Index b) {
      return graph_.volume[a] != graph_.volume[b] ? graph_.volume[a] > graph_.volume[b] : a < b;
    });
    if (last - first <= kFewMembers) {
      // They will be asked for their edges in an order that no processor foresees.
      for (const Index v : starts) {
        __builtin_prefetch(graph_.neighbours.data() + graph_.offsets[v]);
        __builtin_prefetch(graph_.weights.data() + graph_.offsets[v]);
      }
      arrange_few(starts, group, first);
    } else {
      arrange_many(starts, group, first);
    }
  }

 private:
  void arrange_many(const std::vector<Index>& starts, Index group, Index* to) {
    std::priority_queue<std::pair<double, Index>> next;  // strength, -vertex
    for (const Index start : starts) {
      if (is_placed_[start] != 0) continue;
      next.emplace(0, -start);
      while (!next.empty()) {
        const Index v = -next.top().second;
        next.pop();
        if (is_placed_[v] != 0) continue;
        *to++ = v;
        place(v, group, [&](Index u) { next.emplace(strength_[u], -u); });
      }
    }
  }

  /// The same order; looking at all that are left is faster than a heap that learns of every edge.
  void arrange_few(std::vector<Index>& left, Index group, Index* to) {
    while (!left.empty()) {
      std::size_t best = 0;  // no edge to anything placed: the largest
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double strength = strength_[left[i]], highest = strength_[left[best]];
        if (strength > highest || (strength == highest && strength > 0 && left[i] < left[best])) {
          best = i;
        }
      }
      const Index v = left[best];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
      *to++ = v;
      place(v, group, [](Index) {});
    }
  }

  template <class Changed>
  void place(Index v, Index group, Changed&& changed) {
    is_placed_[v] = 1;
    for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
      const Index u = graph_.neighbours[e];
      if (group_[u] != group || is_placed_[u] != 0) continue;
      strength_[u] += static_cast<double>(graph_.weight(e)) /
                      static_cast<double>(std::max<Offset>(1, graph_.volume[u]));
      changed(u);
    }
  }

  const WeightedGraph& graph_;
  const Buffer<Index>& group_;
  Buffer<double> strength_;
  Buffer<std::uint8_t> is_placed_;
};

/// The top of the tree: vertices without edges come last.
Buffer<Index> top_order(const WeightedGraph& graph) {
  Buffer<Index> order(graph.vertices), one_group(graph.vertices);
  std::fill(one_group.begin(), one_group.end(), Index{0});
  std::iota(order.begin(), order.end(), Index{0});
  Index* const isolated = std::stable_partition(order.begin(), order.end(),
                                                [&](Index v) { return graph.volume[v] > 0; });
  Chain(graph, one_group).arrange(order.begin(), isolated);
  return order;
}

/// One level down: every vertex is replaced by its members.
Buffer<Index> expanded(const Buffer<Index>& order, const Members& members) {
  Buffer<Index> below(members.vertex.size());
  Offset to = 0;
  for (const Index group : order) {
    for (Index m = members.begin[group]; m < members.begin[group + 1]; ++m) {
      below[to++] = members.vertex[m];
    }
  }
  return below;
}

}  // namespace

Ordering community(const CsrMatrix& matrix, const ReorderOptions& options) {
  WeightedGraph graph = weighted(build_graph(matrix));
  std::vector<Members> levels;  // vertices of level l + 1 as vertices of level l, arranged
  for (int level = 0; level < kMaxLevels && graph.vertices > 1; ++level) {
    if (options.progress) options.progress("community", static_cast<std::uint64_t>(level), 0);
    const Groups groups = find_groups(graph);
    if (groups.count > kWorthMerging * graph.vertices) break;
    Members members = members_of(groups);
    WeightedGraph merged = merge_groups(graph, groups, members);
    // The vertices of the matrix keep their order inside a group, which is smaller than any cache.
    if (level > 0) {
      Chain chain(graph, groups.of_vertex);
#pragma omp parallel for schedule(dynamic, 1) if (graph.vertices > kWorthThreads)
      for (Index g = 0; g < groups.count; ++g) {
        chain.arrange(members.vertex.data() + members.begin[g],
                      members.vertex.data() + members.begin[g + 1]);
      }
    }
    levels.push_back(std::move(members));
    graph = std::move(merged);
  }
  Buffer<Index> order = top_order(graph);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    order = expanded(order, *level);
  }
  return ordering_of_vertices(matrix, std::move(order));
}

}  // namespace csrkit::reorder
