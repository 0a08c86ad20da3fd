// Weighted graphs, and how the members of a group become one vertex.
#include "preprocess/reorder/aggregation.h"

#include <algorithm>
#include <vector>

#include "preprocess/reorder/group_sums.h"

namespace csrkit::reorder {

namespace {

// Below this many vertices, waking threads takes longer than the work.
constexpr Index kWorthThreads = 1 << 15;

/// Numbers the groups by their first members.
Groups numbered(Buffer<Index> of_vertex) {
  const Offset n = of_vertex.size();
  Buffer<Index> number(n);
  std::fill(number.begin(), number.end(), Index{-1});
  Index count = 0;
  for (Index& group : of_vertex) {
    if (number[group] < 0) number[group] = count++;
    group = number[group];
  }
  return {count, std::move(of_vertex)};
}

}  // namespace

WeightedGraph weighted(Adjacency graph) {
  WeightedGraph result;
  result.vertices = graph.vertices;
  result.volume = Buffer<Offset>(graph.vertices);
#pragma omp parallel for if (graph.vertices > kWorthThreads)
  for (Index v = 0; v < graph.vertices; ++v) {
    result.volume[v] = static_cast<Offset>(graph.offsets[v + 1] - graph.offsets[v]);
  }
  result.total = static_cast<Offset>(graph.entries());
  result.offsets = std::move(graph.offsets);
  result.neighbours = std::move(graph.neighbours);
  return result;
}

Groups find_groups(const WeightedGraph& graph) { return numbered(move_to_groups(graph)); }

Members members_of(const Groups& groups) {
  const Offset n = groups.of_vertex.size();
  Members members{Buffer<Index>(Offset{groups.count} + 1), Buffer<Index>(n)};
  std::fill(members.begin.begin(), members.begin.end(), Index{0});
  for (const Index group : groups.of_vertex) ++members.begin[group + 1];
  for (Index g = 0; g < groups.count; ++g) members.begin[g + 1] += members.begin[g];
  Buffer<Index> next = Buffer<Index>::copy_of(members.begin.data(), groups.count);
  for (Offset v = 0; v < n; ++v) {
    members.vertex[next[groups.of_vertex[v]]++] = static_cast<Index>(v);
  }
  return members;
}

WeightedGraph merge_groups(const WeightedGraph& graph, const Groups& groups,
                           const Members& members) {
  constexpr Index kBlock = 256;  // merged vertices whose edges are collected together
  struct Edge {
    Index to;
    std::uint32_t weight;
  };
  const Index blocks = (groups.count + kBlock - 1) / kBlock;
  std::vector<std::vector<Edge>> edges(static_cast<std::size_t>(blocks));
  WeightedGraph merged;
  merged.vertices = groups.count;
  merged.total = graph.total;
  merged.offsets = Buffer<Offset>(Offset{groups.count} + 1);
  merged.volume = Buffer<Offset>(groups.count);
  merged.offsets[0] = 0;
#pragma omp parallel if (graph.vertices > kWorthThreads)
  {
    GroupSums sums;
#pragma omp for schedule(dynamic, 1)
    for (Index block = 0; block < blocks; ++block) {
      std::vector<Edge>& out = edges[static_cast<std::size_t>(block)];
      const Index end = std::min(groups.count, (block + 1) * kBlock);
      for (Index g = block * kBlock; g < end; ++g) {
        Offset most = 0;
        Offset volume = 0;
        for (Index m = members.begin[g]; m < members.begin[g + 1]; ++m) {
          const Index v = members.vertex[m];
          most += graph.offsets[v + 1] - graph.offsets[v];
          volume += graph.volume[v];
        }
        sums.start(std::min<Offset>(most, groups.count));
        for (Index m = members.begin[g]; m < members.begin[g + 1]; ++m) {
          const Index v = members.vertex[m];
          // Members lie anywhere in memory, and so do their neighbours' groups.
          if (m + 2 < members.begin[g + 1]) {
            __builtin_prefetch(&graph.neighbours[graph.offsets[members.vertex[m + 2]]]);
          }
          if (m + 1 < members.begin[g + 1])
            fetch_around(graph, groups.of_vertex, members.vertex[m + 1]);
          for (Offset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
            sums.add(groups.of_vertex[graph.neighbours[e]], graph.weight(e));
          }
        }
        const std::size_t before = out.size();
        sums.drain([&](Index to, Offset weight) {
          constexpr Offset kHeaviest = ~std::uint32_t{0};
          if (to != g) out.push_back({to, static_cast<std::uint32_t>(std::min(weight, kHeaviest))});
        });
        merged.offsets[g + 1] = static_cast<Offset>(out.size() - before);
        merged.volume[g] = volume;
      }
    }
  }
  for (Index g = 0; g < groups.count; ++g) merged.offsets[g + 1] += merged.offsets[g];
  merged.neighbours = Buffer<Index>(merged.offsets[groups.count]);
  merged.weights = Buffer<std::uint32_t>(merged.offsets[groups.count]);
#pragma omp parallel for schedule(dynamic, 1) if (graph.vertices > kWorthThreads)
  for (Index block = 0; block < blocks; ++block) {
    std::vector<Edge>& from = edges[static_cast<std::size_t>(block)];
    Offset to = merged.offsets[block * kBlock];
    for (const Edge& edge : from) {
      merged.neighbours[to] = edge.to;
      merged.weights[to++] = edge.weight;
    }
    std::vector<Edge>().swap(from);
  }
  return merged;
}

}  // namespace csrkit::reorder
