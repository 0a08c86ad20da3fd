// community: vertices that are densely connected become neighbours, and so do such groups of them,
// level by level.
//
// The family of Rabbit order (Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, IPDPS 2016): aggregate by
// modularity, then number the leaves of the tree of merges depth first, so that every level of the
// caches finds a level of the tree that fits it. Groups come from rounds of parallel moves
// (aggregation.cpp) and not from a race of merges, so the order is the same for any thread count.
#include <algorithm>
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

struct Level {
  Members members;  // which vertices of the level below a vertex of this level holds
};

/// Children of each parent in an order in which every one is well connected to those before it:
/// the next is always the one with the heaviest edges to the placed ones (Prim's walk), starting
/// from the heaviest.
class Chain {
 public:
  explicit Chain(const WeightedGraph& graph)
      : graph_(graph), strength_(graph.vertices), state_(graph.vertices) {
    std::fill(strength_.begin(), strength_.end(), 0.0);
    std::fill(state_.begin(), state_.end(), std::uint8_t{0});
  }

  /// Reorders [first, last), vertices of the graph; edges that leave the range do not count.
  void arrange(Index* first, Index* last) {
    if (last - first < 3) return;
    std::vector<Index> starts(first, last);
    std::sort(starts.begin(), starts.end(), [&](Index a, Index b) {
      return graph_.volume[a] != graph_.volume[b] ? graph_.volume[a] > graph_.volume[b] : a < b;
    });
    for (const Index v : starts) state_[v] = kWaiting;
    Index* out = first;
    std::priority_queue<std::pair<double, Index>> next;  // strength, -vertex
    for (const Index start : starts) {
      if (state_[start] == kPlaced) continue;
      next.emplace(0, -start);
      while (!next.empty()) {
        const Index v = -next.top().second;
        next.pop();
        if (state_[v] == kPlaced) continue;
        state_[v] = kPlaced;
        *out++ = v;
        for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
          const Index u = graph_.neighbours[e];
          if (state_[u] != kWaiting) continue;
          // Relative to its size, or the hubs would always be next.
          strength_[u] += static_cast<double>(graph_.weight(e)) /
                          static_cast<double>(std::max<std::uint64_t>(1, graph_.volume[u]));
          next.emplace(strength_[u], -u);
        }
      }
    }
    for (const Index v : starts) {
      state_[v] = 0;
      strength_[v] = 0;
    }
  }

 private:
  enum State : std::uint8_t { kElsewhere, kWaiting, kPlaced };
  const WeightedGraph& graph_;
  Buffer<double> strength_;
  Buffer<std::uint8_t> state_;
};

}  // namespace

Ordering community(const CsrMatrix& matrix, const ReorderOptions& options) {
  WeightedGraph graph = weighted(build_graph(matrix));
  std::vector<Members> levels;  // of level l + 1 in vertices of level l, arranged
  for (int level = 0; level < kMaxLevels && graph.vertices > 1; ++level) {
    if (options.progress) options.progress("community", static_cast<std::uint64_t>(level), 0);
    const Groups groups = find_groups(graph);
    const bool is_last = groups.count > kWorthMerging * graph.vertices;
    if (is_last) break;
    Members members = members_of(groups);
    WeightedGraph merged = merge_groups(graph, groups, members);
    if (level > 0) {
      Chain chain(graph);
      for (Index g = 0; g < groups.count; ++g) {
        chain.arrange(members.vertex.data() + members.begin[g],
                      members.vertex.data() + members.begin[g + 1]);
      }
    }
    levels.push_back(std::move(members));
    graph = std::move(merged);
  }
  Buffer<Index> order(graph.vertices);
  // Vertices without edges come last.
  Index connected = 0;
  for (Index v = 0; v < graph.vertices; ++v) {
    if (graph.volume[v] > 0) order[connected++] = v;
  }
  Index isolated = connected;
  for (Index v = 0; v < graph.vertices; ++v) {
    if (graph.volume[v] == 0) order[isolated++] = v;
  }
  Chain(graph).arrange(order.data(), order.data() + connected);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    Buffer<Index> below(level->vertex.size());
    Offset to = 0;
    for (const Index group : order) {
      for (Index m = level->begin[group]; m < level->begin[group + 1]; ++m) {
        below[to++] = level->vertex[m];
      }
    }
    order = std::move(below);
  }
  return ordering_of_vertices(matrix, std::move(order));
}

}  // namespace csrkit::reorder
