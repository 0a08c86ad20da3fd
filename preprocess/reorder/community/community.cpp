// community: vertices that are densely connected become neighbours, and so do such groups of them,
// level by level.
//
// The family of Rabbit order (Arai, Shiokawa, Yamamuro, Onizuka, Iwamura, IPDPS 2016): aggregate by
// modularity, then number the leaves of the tree of merges depth first, so that every level of the
// caches finds a level of the tree that fits it. Groups come from rounds of parallel moves
// (aggregation.cpp) and not from a race of merges, so the order is the same for any thread count.
// The groups at the top of the tree are kept as a partition.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "preprocess/reorder/community/aggregation.h"
#include "preprocess/reorder/community/group_chain.h"
#include "preprocess/reorder/method.h"

namespace csrkit::reorder {

namespace {

constexpr int kMaxLevels = 20;
// A level that leaves more than this share of the vertices is not worth its graph.
constexpr double kWorthMerging = 0.95;

/// The top of the tree, as one group: vertices without edges come last.
Buffer<Index> top_order(const WeightedGraph& graph) {
  Buffer<Index> order(graph.vertices), place(graph.vertices);
  std::iota(order.begin(), order.end(), Index{0});
  Index* const isolated = std::stable_partition(order.begin(), order.end(),
                                                [&](Index v) { return graph.volume[v] > 0; });
  const auto connected = static_cast<Index>(isolated - order.begin());
  for (Index i = 0; i < connected; ++i) place[order[i]] = i;
  GroupChain chain;
  for (Index i = 0; i < connected; ++i) {
    const Index v = order[i];
    chain.add_vertex(graph.volume[v]);
    for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      chain.add_edge(place[graph.neighbours[e]], static_cast<std::uint32_t>(graph.weight(e)));
    }
  }
  const Buffer<Index> before = Buffer<Index>::copy_of(order.data(), connected);
  Index* next = order.begin();
  for (const Index i : chain.order()) *next++ = before[i];
  return order;
}

/// Vertices in their order, and the part that each belongs to.
struct Placed {
  Buffer<Index> vertex, part;
};

/// A part for every vertex of the top; those without edges share the last one.
Placed top_parts(const WeightedGraph& graph) {
  Placed top{top_order(graph), Buffer<Index>(graph.vertices)};
  Index part = -1;
  bool was_lonely = false;
  for (Index i = 0; i < graph.vertices; ++i) {
    const bool is_lonely = graph.volume[top.vertex[i]] == 0;
    if (!is_lonely || !was_lonely) ++part;
    was_lonely = is_lonely;
    top.part[i] = part;
  }
  return top;
}

/// One level down: every vertex is replaced by its members.
Placed expanded(const Placed& above, const Members& members) {
  Placed below{Buffer<Index>(members.vertex.size()), Buffer<Index>(members.vertex.size())};
  Offset to = 0;
  for (Offset i = 0; i < above.vertex.size(); ++i) {
    const Index group = above.vertex[i];
    for (Index m = members.begin[group]; m < members.begin[group + 1]; ++m, ++to) {
      below.vertex[to] = members.vertex[m];
      below.part[to] = above.part[i];
    }
  }
  return below;
}

/// The parts of the rows, numbered as they come; parts of columns only have no number.
Partition partition_of_rows(const Placed& placed, Index rows) {
  Buffer<Index> part_of_row(rows);
  Index row = 0, part = -1, last = -1;
  for (Offset i = 0; i < placed.vertex.size(); ++i) {
    if (placed.vertex[i] >= rows) continue;
    if (placed.part[i] != last) ++part;
    last = placed.part[i];
    part_of_row[row++] = part;
  }
  return {part + 1, std::make_shared<const Buffer<Index>>(std::move(part_of_row))};
}

Index vertices_without_edges(const WeightedGraph& graph) {
  Index count = 0;
  for (Index v = 0; v < graph.vertices; ++v) count += graph.offsets[v] == graph.offsets[v + 1];
  return count;
}

}  // namespace

Ordering community(const CsrMatrix& matrix, const MethodRequest& request) {
  WeightedGraph graph = weighted(build_graph(matrix));
  std::vector<Members> levels;  // vertices of level l + 1 as vertices of level l, arranged
  for (int level = 0; level < kMaxLevels && graph.vertices > 1; ++level) {
    if (request.progress) request.progress("community", static_cast<std::uint64_t>(level), 0);
    const Index lonely = vertices_without_edges(graph);  // which never merge
    if (lonely == graph.vertices) break;
    const Groups groups = find_groups(graph);
    if (groups.count - lonely > kWorthMerging * (graph.vertices - lonely)) break;
    Members members = members_of(groups);
    // The vertices of the matrix keep their order inside a group, which is smaller than any cache.
    const Inside inside = level > 0 ? Inside::chained : Inside::as_numbered;
    WeightedGraph merged = merge_groups(graph, groups, inside, &members);
    levels.push_back(std::move(members));
    graph = std::move(merged);
  }
  Placed placed = top_parts(graph);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    placed = expanded(placed, *level);
  }
  Partition groups = partition_of_rows(placed, matrix.rows());
  Ordering ordering = ordering_of_vertices(matrix, std::move(placed.vertex));
  if (groups.parts > 0) ordering.partition = std::move(groups);
  return ordering;
}

}  // namespace csrkit::reorder
