// Weighted graphs, and how the members of a group become one vertex.
#include "preprocess/reorder/community/aggregation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/team_errors.h"
#include "preprocess/reorder/community/group_chain.h"
#include "preprocess/reorder/community/group_sums.h"

namespace csrkit::reorder {

namespace {

// Below this many vertices, waking threads takes longer than the work.
constexpr Index kWorthThreads = 1 << 15;

/// Prefetches what the next members need: their offsets, then their neighbours, then the groups of
/// those. All of these lie anywhere in memory. Called for one member after the other.
struct FetchAhead {
  const WeightedGraph& graph;
  const Groups& groups;
  const Members& members;
  Index end;  // from here, another thread may be moving members

  void operator()(Index m) const {
    if (m + 12 < end) {
      const Index v = members.vertex[m + 12];
      fetch(&graph.offsets[v]);
      fetch(&graph.volume[v]);
    }
    if (m + 6 < end) {
      const Offset at = graph.offsets[members.vertex[m + 6]];
      fetch(graph.neighbours.data() + at);
      if (graph.weights.size() > 0) fetch(graph.weights.data() + at);
    }
    if (m + 3 < end) fetch_around(graph, groups.of_vertex, members.vertex[m + 3]);
  }
};

/// Puts members into the order of a chain, which numbers them from 0.
void rearrange(Index* first, const std::vector<Index>& order, std::vector<Index>& scratch) {
  scratch.assign(first, first + order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    first[i] = scratch[static_cast<std::size_t>(order[i])];
  }
}

constexpr Index kBlock = 256;  // merged vertices whose edges are collected together

struct MergedEdge {
  Index to;
  std::uint32_t weight;
};

/// What a thread needs to merge one group after the other.
class GroupMerger {
 public:
  /// `place` is for all threads: of each vertex among its group's members, where they are chained.
  GroupMerger(const WeightedGraph& graph, const Groups& groups, Members* members,
              Buffer<Index>* place, Inside inside)
      : graph_(graph),
        groups_(groups),
        members_(*members),
        place_(*place),
        inside_(inside),
        sums_(groups.count) {}

  /// Appends the edges of a group, and puts its members into their order. Returns its volume.
  Offset merge(Index group, const FetchAhead& fetch_ahead, std::vector<MergedEdge>* edges) {
    const Index first = members_.begin[group], last = members_.begin[group + 1];
    const bool is_chained = inside_ == Inside::chained && last - first > 2;
    Offset most = 0, volume = 0;
    for (Index m = first; m < last; ++m) {
      const Index v = members_.vertex[m];
      most += graph_.offsets[v + 1] - graph_.offsets[v];
      volume += graph_.volume[v];
      if (is_chained) place_[v] = m - first;
    }
    sums_.start(std::min<Offset>(most, groups_.count));
    chain_.clear();
    for (Index m = first; m < last; ++m) {
      const Index v = members_.vertex[m];
      fetch_ahead(m);
      if (is_chained) chain_.add_vertex(graph_.volume[v]);
      for (Offset e = graph_.offsets[v]; e < graph_.offsets[v + 1]; ++e) {
        const Index to = groups_.of_vertex[graph_.neighbours[e]];
        if (to != group) {
          sums_.add(to, graph_.weight(e));
        } else if (is_chained) {
          chain_.add_edge(place_[graph_.neighbours[e]],
                          static_cast<std::uint32_t>(graph_.weight(e)));
        }
      }
    }
    if (is_chained) rearrange(members_.vertex.data() + first, chain_.order(), scratch_);
    sums_.drain([&](Index to, Offset weight) {
      constexpr Offset kHeaviest = ~std::uint32_t{0};
      edges->push_back({to, static_cast<std::uint32_t>(std::min(weight, kHeaviest))});
    });
    return volume;
  }

 private:
  const WeightedGraph& graph_;
  const Groups& groups_;
  Members& members_;
  Buffer<Index>& place_;
  const Inside inside_;
  GroupSums sums_;
  GroupChain chain_;
  std::vector<Index> scratch_;
};

/// Puts the edges of all blocks behind each other; their offsets hold the degrees so far.
void gather_edges(std::vector<std::vector<MergedEdge>>* edges, bool is_worth_threads,
                  WeightedGraph* merged) {
  const Index count = merged->vertices;
  for (Index g = 0; g < count; ++g) merged->offsets[g + 1] += merged->offsets[g];
  merged->neighbours = Buffer<Index>(merged->offsets[count]);
  merged->weights = Buffer<std::uint32_t>(merged->offsets[count]);
  const auto blocks = static_cast<Index>(edges->size());
#pragma omp parallel for schedule(dynamic, 1) if (is_worth_threads)
  for (Index block = 0; block < blocks; ++block) {
    std::vector<MergedEdge>& from = (*edges)[static_cast<std::size_t>(block)];
    Offset to = merged->offsets[block * kBlock];
    for (const MergedEdge& edge : from) {
      merged->neighbours[to] = edge.to;
      merged->weights[to++] = edge.weight;
    }
    std::vector<MergedEdge>().swap(from);
  }
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

Groups find_groups(const WeightedGraph& graph) {
  Groups groups{0, move_to_groups(graph)};
  const Index n = graph.vertices;
  Buffer<Index> number(n);
#pragma omp parallel if (n > kWorthThreads)
  {
#pragma omp for
    for (Index v = 0; v < n; ++v) number[v] = 0;
#pragma omp for
    for (Index v = 0; v < n; ++v) {
#pragma omp atomic write
      number[groups.of_vertex[v]] = 1;
    }
#pragma omp single
    for (Index v = 0; v < n; ++v) {
      const Index is_used = number[v];
      number[v] = groups.count;
      groups.count += is_used;
    }
#pragma omp for
    for (Index v = 0; v < n; ++v) groups.of_vertex[v] = number[groups.of_vertex[v]];
  }
  return groups;
}

Members members_of(const Groups& groups) {
  const auto n = static_cast<Index>(groups.of_vertex.size());
  Members members{Buffer<Index>(Offset{groups.count} + 1), Buffer<Index>(n)};
  Buffer<Index> next(groups.count);
#pragma omp parallel if (n > kWorthThreads)
  {
#pragma omp for
    for (Index g = 0; g < groups.count; ++g) next[g] = 0;
#pragma omp for
    for (Index v = 0; v < n; ++v) {
#pragma omp atomic
      ++next[groups.of_vertex[v]];
    }
#pragma omp single
    {
      members.begin[0] = 0;
      for (Index g = 0; g < groups.count; ++g) {
        members.begin[g + 1] = members.begin[g] + next[g];
        next[g] = members.begin[g];
      }
    }
#pragma omp for
    for (Index v = 0; v < n; ++v) {
      Index to;
#pragma omp atomic capture
      to = next[groups.of_vertex[v]]++;
      members.vertex[to] = v;
    }
    // Threads placed them in any order.
#pragma omp for schedule(dynamic, 256)
    for (Index g = 0; g < groups.count; ++g) {
      std::sort(members.vertex.data() + members.begin[g],
                members.vertex.data() + members.begin[g + 1]);
    }
  }
  return members;
}

WeightedGraph merge_groups(const WeightedGraph& graph, const Groups& groups, Inside inside,
                           Members* members) {
  const Index blocks = (groups.count + kBlock - 1) / kBlock;
  std::vector<std::vector<MergedEdge>> edges(static_cast<std::size_t>(blocks));
  WeightedGraph merged;
  merged.vertices = groups.count;
  merged.total = graph.total;
  merged.offsets = Buffer<Offset>(Offset{groups.count} + 1);
  merged.volume = Buffer<Offset>(groups.count);
  merged.offsets[0] = 0;
  Buffer<Index> place(inside == Inside::chained ? graph.vertices : 0);
  const bool is_worth_threads = graph.vertices > kWorthThreads;
  TeamErrors errors;
#pragma omp parallel if (is_worth_threads)
  {
    std::optional<GroupMerger> merger;
    errors.guard([&] { merger.emplace(graph, groups, members, &place, inside); });
#pragma omp for schedule(dynamic, 1)
    for (Index block = 0; block < blocks; ++block) {
      errors.guard([&] {
        std::vector<MergedEdge>& out = edges[static_cast<std::size_t>(block)];
        const Index end = std::min(groups.count, (block + 1) * kBlock);
        const FetchAhead fetch_ahead{graph, groups, *members, members->begin[end]};
        for (Index g = block * kBlock; g < end; ++g) {
          const std::size_t before = out.size();
          merged.volume[g] = merger->merge(g, fetch_ahead, &out);
          merged.offsets[g + 1] = static_cast<Offset>(out.size() - before);
        }
      });
    }
  }
  errors.rethrow();
  gather_edges(&edges, is_worth_threads, &merged);
  return merged;
}

}  // namespace csrkit::reorder
